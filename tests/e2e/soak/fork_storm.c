/* SPDX-License-Identifier: Apache-2.0 */

/* Many forks while the parent is in the middle of a call. */

#include "tests/e2e/fork/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>

TestSuite(fork_storm, .timeout = 3600);

/* Of the process that forks, and its service.instance.id. */
static pid_t first;
static struct instance_id first_id;

/* Is it a number as publish_four() writes it? */
static bool is_number(struct otelread_span span)
{
    char text[16] = "", again[16];

    if (span.size >= sizeof(text))
        return false;
    memcpy(text, span.bytes, span.size);
    snprintf(again, sizeof(again), "%u", (unsigned)strtoul(text, NULL, 10));
    return strcmp(text, again) == 0;
}

/* Are the four attributes, which are set together, the same number, and is the
 * id this process's own? */
static bool is_whole(const struct otelread_report *report)
{
    const struct otelread_node *a, *other;
    struct instance_id id;

    if (report->status != OTELREAD_OK || report->contexts.count != 1)
        return false;
    a = attribute(report, "a");
    for (const char *key = "bcd"; *key; key++) {
        other = attribute(report, (const char[]){*key, '\0'});
        if (!a || !other || !otelread_span_equal(a->span, other->span))
            return false;
    }
    id = instance_id(report);
    return is_number(a->span) && id.text[0] &&
           (strcmp(id.text, first_id.text) == 0) == (getpid() == first);
}

static int judge_whole(void)
{
    struct otelread_report report = {0};
    int fault = AS_IT_SHOULD_BE;

    otelread_report_make(&report, getpid(), OTELREAD_PATIENCE_LONG);
    if (report.status == OTELREAD_NO_CONTEXT)
        fault = NO_CONTEXT;
    else if (!is_whole(&report))
        fault = NOT_ONE_CONTEXT;
    if (fault && fault != NO_CONTEXT)
        fprintf(stderr, "process %d: %s\n", (int)getpid(), report.message);
    otelread_report_free(&report);
    return fault;
}

/* Set four attributes to one number, in one thread at a time. */
static int publish_four(unsigned number)
{
    static pthread_mutex_t together = PTHREAD_MUTEX_INITIALIZER;
    char value[32];
    int err = 0;

    snprintf(value, sizeof(value), "%u", number);
    pthread_mutex_lock(&together);
    for (const char *key = "abcd"; *key && !err; key++)
        err = otelctx_process_set((const char[]){*key, '\0'}, value);
    if (!err)
        err = otelctx_process_publish();
    pthread_mutex_unlock(&together);
    return err;
}

static void begin(void)
{
    struct otelread_report report = {0};

    cr_assert_eq(publish_four(0), 0);
    first = getpid();
    otelread_report_make(&report, first, OTELREAD_PATIENCE_LONG);
    first_id = instance_id(&report);
    cr_assert(is_whole(&report));
    otelread_report_free(&report);
}

enum {
    PUBLISHERS = 8,
    FORKS = 10000,
    RAW_FORKS = 1500,
    DROPPED_FORKS = 2500,
    HANDLER_FORKS = 4000,
};
static atomic_bool is_over;
static atomic_uint failures;

static void *publish_on(void *unused)
{
    for (unsigned number = 0; !is_over; number++)
        if (publish_four(number))
            failures++;
    return unused;
}

static void *drop_and_publish(void *unused)
{
    while (!is_over)
        if (otelctx_process_drop() || otelctx_process_publish())
            failures++;
    return unused;
}

static void expect_good_children(void *(*threads)(void *), unsigned count,
                                 unsigned forks, pid_t (*fork_)(void),
                                 int (*judge_)(void))
{
    pthread_t thread[PUBLISHERS];
    unsigned bad = 0;

    begin();
    for (unsigned i = 0; i < count; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, threads, NULL), 0);
    for (unsigned i = 0; i < forks; i++) {
        const pid_t child = fork_();

        if (child == 0) {
            alarm(60); /* ends a child that hangs */
            _exit(judge_());
        }
        cr_assert_gt(child, 0);
        bad += status_of(child) != AS_IT_SHOULD_BE;
    }
    is_over = true;
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    cr_expect_eq(bad, 0, "%u of %u children", bad, forks);
    cr_expect_eq(failures, 0);
}

Test(fork_storm,
     no_child_of_eight_publishing_threads_hangs_or_has_half_a_context)
{
    expect_good_children(publish_on, PUBLISHERS, FORKS, fork, judge_whole);
}

/* The shim notices such a fork at the child's first call. The staged attributes
 * may be half an update then, but the published ones are whole. */
static int judge_raw(void)
{
    return otelctx_process_set("other", "x") ? CALL_FAILED : judge_whole();
}

Test(fork_storm, no_child_of_a_raw_clone_hangs_or_has_half_a_context)
{
    expect_good_children(publish_on, PUBLISHERS / 2, RAW_FORKS, raw_fork,
                         judge_raw);
}

/* Between mmap and madvise a child would inherit the new mapping. */
static int judge_whole_or_none(void)
{
    const int fault = judge_whole();

    return fault == NO_CONTEXT ? AS_IT_SHOULD_BE : fault;
}

Test(fork_storm, no_child_inherits_a_mapping_that_is_being_made)
{
    expect_good_children(drop_and_publish, 1, DROPPED_FORKS, fork,
                         judge_whole_or_none);
}

/* ---- From a signal handler that interrupted a call ---------------------- */

static volatile sig_atomic_t interrupted, bad_children, is_child;
static unsigned spread = 1;

static void arm(void)
{
    struct itimerval timer = {.it_value = {0, 0}};

    spread = spread * 1103515245 + 12345;
    timer.it_value.tv_usec = 20 + (spread >> 16) % 80;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void fork_in_handler(int number)
{
    const pid_t child = fork();

    (void)number;
    if (child == 0) {
        is_child = 1;
        alarm(60);
        signal(SIGALRM, SIG_DFL);
        if (judge_whole())
            _exit(NOT_ONE_CONTEXT);
        return; /* into the interrupted call */
    }
    bad_children += child < 0 || status_of(child) != AS_IT_SHOULD_BE;
    interrupted++;
    if (interrupted < HANDLER_FORKS)
        arm();
}

/* Calls without the mutex, which a child would find locked. */
static void expect_good_children_of_handler(void)
{
    const struct sigaction action = {.sa_handler = fork_in_handler,
                                     .sa_flags = SA_RESTART};

    begin();
    sigaction(SIGALRM, &action, NULL);
    arm();
    for (unsigned number = 0; interrupted < HANDLER_FORKS && !is_child;
         number++) {
        char value[32];

        snprintf(value, sizeof(value), "%u", number);
        if (otelctx_process_set("other", value) || otelctx_process_publish())
            failures++;
    }
    if (is_child)
        _exit(failures || otelctx_process_publish() ? CALL_FAILED
                                                    : judge_whole());
    cr_expect_eq(bad_children, 0, "%d children", (int)bad_children);
    cr_expect_eq(failures, 0);
    cr_expect_eq(judge_whole(), AS_IT_SHOULD_BE);
}

Test(fork_storm, a_handler_that_interrupts_a_publish_may_fork)
{
    expect_good_children_of_handler();
}
