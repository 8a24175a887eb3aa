/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read --threads: processes and threads that change while they are
 * read. */

#include "tests/e2e/reader/reader_threads.h"

#include <sched.h>

TestSuite(reader_threads_churn, .timeout = 1200);

/* The number of threads that have ended. */
static volatile uint64_t *gone;

static void share_memory(void)
{
    gone = share(sizeof(*gone));
}

static int read_threads(const struct target *target)
{
    return RUN("--json", "--threads", number(target->pid));
}

/* Checks that each context shown has ids made of the thread's own id. Returns
 * the number of contexts. */
static unsigned expect_own_contexts(void)
{
    unsigned attached = 0;

    for (const char *at = last.out; (at = strstr(at, "{\"tid\":"));) {
        const char *const id = strstr(at, "\"span_id\":\"");
        const char *const next = strstr(at + 1, "{\"tid\":");
        const long tid = strtol(at + strlen("{\"tid\":"), NULL, 10);

        if (id && (!next || id < next)) {
            cr_expect_eq(strtol(id + strlen("\"span_id\":\""), NULL, 16), tid,
                         "%s", at);
            attached++;
        }
        at++;
    }
    return attached;
}

static void *come_and_go(void *unused)
{
    struct record record;

    for (int i = 0; i < 20; i++) {
        record_fill(&record, (uint64_t)gettid_raw(), ROUTE, sizeof(ROUTE) - 1);
        attach(&record);
        sched_yield();
        attach(NULL);
    }
    (*gone)++;
    return unused;
}

static void *spawn(void *unused)
{
    pthread_t threads[8];

    for (;;) {
        for (size_t i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, come_and_go, NULL);
        for (size_t i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    return unused;
}

static void churning(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, spawn, NULL);
    while (*gone < 16)
        sleep_ms(1);
    say_ready(ready);
}

Test(reader_threads_churn, a_short_lived_thread_is_shown_with_its_own_context,
     .init = share_memory)
{
    const struct target target = target_start(churning);
    unsigned attached = 0;

    for (int i = 0; i < 100 || (attached == 0 && i < 2000); i++) {
        EXPECT_STATUS(read_threads(&target), 0);
        attached += expect_own_contexts();
    }
    cr_expect_gt(attached, 0);
    cr_expect_gt(*gone, 1000, "it goes on meanwhile");
    for (int i = 0; i < 50; i++) {
        EXPECT_STATUS(
            RUN("--json", "--threads", "--no-stop", number(target.pid)), 0);
        expect_own_contexts();
    }
    target_end(&target);
}

/* Changes the thread's record all the time. Hides it meanwhile with the pointer
 * or, if `by_valid` is not NULL, with `valid`. */
static void *change(void *by_valid)
{
    struct record record;
    struct record *const own = &record;

    for (uint64_t i = 0;; i++) {
        const char attrs[3] = {0, 1, i % 2 == 0 ? 'a' : 'b'};

        if (by_valid)
            *(volatile uint8_t *)&own->head.valid = 0;
        else
            attach(NULL);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        record_fill(own, i % 2, attrs, sizeof(attrs));
        own->head.trace_flags = 0;
        own->head.valid = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        *(volatile uint8_t *)&own->head.valid = 1;
        attach(own);
    }
    return NULL;
}

static void changing(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    pthread_create(&thread, NULL, change, NULL);
    pthread_create(&thread, NULL, change, (void *)1);
    say_ready(ready);
}

Test(reader_threads_churn, a_context_is_never_a_mixture, .init = share_memory)
{
    const struct target target = target_start(changing);

    for (int i = 0; i < 40; i++) {
        EXPECT_STATUS(read_threads(&target), 0);
        EXPECT_JSON(".[0].threads[1:] | length == 2 and all(.[]; .status == "
                    "\"detached\" or .status == \"invalid\" or (.status == "
                    "\"attached\" and (has(\"message\") | not) and "
                    "([.trace_id, .attributes[0].value.stringValue] | "
                    ". == [\"00000000000000000000000000000000\", \"a\"] or "
                    ". == [\"00000000000000010000000000000001\", \"b\"])))");
    }
    target_end(&target);
}

static void *idle(void *unused)
{
    pause();
    return unused;
}

static void ends(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    for (int i = 0; i < 40; i++)
        pthread_create(&thread, NULL, idle, NULL);
    say_ready(ready);
    sleep_somewhat();
    _exit(0);
}

Test(reader_threads_churn, a_process_that_ends_while_it_is_read_is_no_failure)
{
    for (int i = 0; i < 60; i++) {
        const struct target target = target_start(ends);
        const int status = read_threads(&target);

        cr_expect(status == 0 || status == 3 || status == 5, "%d: %s", status,
                  last.err);
        cr_expect(jq_says(last.out, "length == 1"), "%s", last.out);
        target_end(&target);
    }
}

/* With this variable the program executes itself from a constructor, before
 * Criterion's main(). */
#define AGAIN "OTELCTX_TEST_AGAIN"

__attribute__((constructor)) static void begin_again(int argc, char **argv)
{
    pthread_t thread;

    (void)argc;
    if (!getenv(AGAIN))
        return;
    announce();
    ATTACH(0x4711);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, idle, NULL);
    sleep_ms(2);
    execv("/proc/self/exe", argv);
    _exit(99);
}

static void execs(int ready, int commands)
{
    char name[] = "again";
    char *argv[] = {name, NULL};

    (void)commands;
    say_ready(ready);
    setenv(AGAIN, "", 1);
    execv("/proc/self/exe", argv);
}

Test(reader_threads_churn, a_process_that_execs_while_it_is_read_is_no_failure,
     .init = share_memory)
{
    const struct target target = target_start(execs);
    unsigned attached = 0;

    for (int i = 0; i < 80 || (attached == 0 && i < 2000); i++) {
        const int status = read_threads(&target);

        cr_expect(status < 128 && status != 2 && status != 3, "%d: %s", status,
                  last.err);
        cr_expect(jq_says(last.out, "length == 1"), "%s", last.out);
        attached += strstr(last.out, "\"span_id\":\"0000000000004711\"") != 0;
    }
    cr_expect_gt(attached, 0);
    cr_expect_eq(state_of(target.pid, target.pid) == 't', false);
    target_end(&target);
}
