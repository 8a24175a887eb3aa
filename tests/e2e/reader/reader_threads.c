/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read --threads: OTEP 4947, "Reading Protocol", step by step. */

#include "tests/e2e/reader/reader_threads.h"

#include <sys/epoll.h>

TestSuite(reader_threads, .timeout = 600);

/* Runs otelctx-read on a new target. */
static int run_threads(target_body *body, const char *option)
{
    const struct target target = target_start(body);
    const int status = RUN("--threads", option, number(target.pid));

    target_end(&target);
    return status;
}

/* A condition on the only thread of a single-threaded target. */
#define THREAD ".[0].threads | length == 1 and (.[0] | "

/* ---- what is shown ------------------------------------------------------ */

Test(reader_threads, every_thread_is_shown_with_its_context)
{
    const struct target target = target_start(with_worker);
    char filter[800];

    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    cr_expect_str_empty(last.err);
    EXPECT_JSON(".[0].contexts | length == 1");
    EXPECT_JSON(".[0].thread_context | .status == \"ok\" and "
                "(has(\"message\") | not) and "
                ".schema_version == \"tlsdesc_v1_dev\" and "
                ".keys == [\"http.route\"] and .stopped == true and "
                "(.symbol.object | endswith(\"reader_threads\")) and "
                "(.symbol.access | length > 0)");
    snprintf(filter, sizeof(filter),
             ".[0].threads | length == 2 and (.[0] | .tid == %d and "
             ".name == \"main\" and .state == \"S\" and .status == "
             "\"detached\" and (.stopped_ns | tonumber) > 0 and "
             "(has(\"trace_id\") or has(\"record\") | not))",
             (int)target.pid);
    EXPECT_JSON(filter);
    EXPECT_JSON(".[0].threads[1] | .name == \"worker\" and .state == \"S\" and "
                ".status == \"attached\" and (.record | startswith(\"0x\")) "
                "and .trace_id == \"00000000000047110000000000004711\" and "
                ".span_id == \"0000000000004711\" and .trace_flags == 1 and "
                ".attributes == [{\"key\": \"http.route\", \"value\": "
                "{\"stringValue\": \"/ab\"}}] and "
                "(.stopped_ns | tonumber) > 0 and (has(\"message\") | not)");
    target_end(&target);
}

Test(reader_threads, the_text_shows_the_threads)
{
    EXPECT_STATUS(run_threads(with_worker, "--"), 0);
    cr_expect_str_empty(last.err);
    EXPECT_TEXT(last.out, "\n  symbol     ");
    EXPECT_TEXT(last.out, "\n  threads\n    ");
    EXPECT_TEXT(last.out, "  main    S  detached  stopped at most ");
    EXPECT_TEXT(last.out,
                "  worker  S  attached  trace 00000000000047110000000000004711"
                " span 0000000000004711 flags 01  stopped at most ");
    EXPECT_TEXT(last.out, " us\n      http.route  \"/ab\"\n");
}

Test(reader_threads, threads_are_shown_only_when_asked_for)
{
    EXPECT_STATUS(run_on(with_worker, "--json"), 0);
    EXPECT_JSON(".[0] | has(\"threads\") or has(\"thread_context\") | not");
    EXPECT_STATUS(run_on(with_worker, "--"), 0);
    cr_expect_null(strstr(last.out, "threads\n"));
}

static int attached;

static void *attach_and_wait(void *unused)
{
    ATTACH(0x4711);
    __atomic_fetch_add(&attached, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
    return unused;
}

static void thousand_threads(int ready, int commands)
{
    pthread_attr_t small;
    pthread_t thread;

    (void)commands;
    announce();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)64 << 10);
    for (int i = 0; i < 1000; i++) {
        if (pthread_create(&thread, &small, attach_and_wait, NULL) != 0)
            _exit(99);
    }
    while (__atomic_load_n(&attached, __ATOMIC_SEQ_CST) < 1000)
        sleep_ms(1);
    say_ready(ready);
}

Test(reader_threads, a_thousand_threads_are_read)
{
    EXPECT_STATUS(run_threads(thousand_threads, "--json"), 0);
    EXPECT_JSON(".[0].threads | length == 1001 and "
                "([.[] | select(.status == \"attached\" and .trace_id == "
                "\"00000000000047110000000000004711\")] | length == 1000) and "
                "([.[].tid] | . == sort)");
}

Test(reader_threads, threads_are_read_in_several_processes_and_with_all)
{
    const struct target one = target_start(with_worker);
    const struct target two = target_start(with_worker);
    char filter[200];

    EXPECT_STATUS(RUN("--json", "--threads", number(one.pid), number(two.pid)),
                  0);
    EXPECT_JSON("[.[].threads[1].status] == [\"attached\", \"attached\"]");
    EXPECT_STATUS(RUN("--json", "--threads", "--all"), 0);
    snprintf(filter, sizeof(filter),
             "[.[] | select(.pid == %d or .pid == %d) | .threads[1].status] == "
             "[\"attached\", \"attached\"]",
             (int)one.pid, (int)two.pid);
    EXPECT_JSON(filter);
    target_end(&one);
    target_end(&two);
}

Test(reader_threads, options_that_make_no_sense_together_are_wrong_usage)
{
    EXPECT_STATUS(RUN("--threads", "--raw", "1"), 2);
    EXPECT_TEXT(last.err, "--threads goes without --raw");
    EXPECT_STATUS(RUN("--no-stop", "1"), 2);
    EXPECT_TEXT(last.err, "--no-stop goes with --threads only");
    EXPECT_STATUS(RUN("--threads"), 2);
}

/* ---- step 1: initialization --------------------------------------------- */

static void no_context(int ready, int commands)
{
    (void)commands;
    ATTACH(1);
    say_ready(ready);
}

Test(reader_threads, threads_are_not_read_without_a_process_context)
{
    EXPECT_STATUS(run_threads(no_context, "--json"), 5);
    EXPECT_JSON(".[0] | .thread_context.status == \"no_context\" and "
                ".threads == []");
}

static void broken_schema(int ready, int commands)
{
    (void)commands;
    PUBLISH(map_page(OTELCTX_MAPPING_NAME),
            "\x12\x20\x0a\x1athreadlocal.schema_version\x12\x02\x18\x2a");
    say_ready(ready);
}

Test(reader_threads, a_broken_announcement_is_status_1)
{
    EXPECT_STATUS(run_threads(broken_schema, "--json"), 1);
    EXPECT_JSON(".[0] | .status == \"ok\" and .contexts != [] and "
                ".thread_context.status == \"error\" and .threads == []");
    EXPECT_TEXT(last.err, ": its threads: threadlocal.schema_version is no "
                          "string\n");
}

/* ---- step 2: sampling --------------------------------------------------- */

static void to_the_kernel(int ready, int commands)
{
    (void)commands;
    announce();
    attach((void *)-8);
    say_ready(ready);
}

Test(reader_threads, a_pointer_into_the_kernel_is_reported)
{
    EXPECT_STATUS(run_threads(to_the_kernel, "--json"), 0);
    EXPECT_JSON(THREAD ".status == \"unreadable\" and "
                       ".record == \"0xfffffffffffffff8\")");
}

static void odd_values(int ready, int commands)
{
    (void)commands;
    prctl(PR_SET_NAME, "\x1b[31m) R (\xff");
    announce();
    attach_number(1, "\x00\x01x\x07\x01y\x00\x03\x1b[\xff", 11);
    say_ready(ready);
}

Test(reader_threads, a_fault_in_attributes_is_reported)
{
    EXPECT_STATUS(run_threads(odd_values, "--json"), 0);
    EXPECT_JSON(THREAD ".status == \"attached\" and .attributes == [{\"key\": "
                       "\"http.route\", \"value\": {\"stringValue\": "
                       "\"\\u001b[\\ufffd\"}}])");
    EXPECT_TEXT(last.out, "key index 0: more than once, and the last counts; "
                          "key index 7: not in the key map, and left out; "
                          "key index 0: the value is not UTF-8");
    EXPECT_STATUS(run_threads(odd_values, "--"), 0);
    EXPECT_TEXT(last.out, "\n      http.route  \"\\x1b[\\xff\"\n");
    cr_expect_null(strchr(last.out, '\x1b'));
}

/* ---- --no-stop ---------------------------------------------------------- */

/* What a target tells its test. */
static volatile struct {
    int stage;
    int error;
    pid_t tid;
} * shared;

/* epoll_wait(2) is never restarted, so it fails in a thread that is stopped. */
static void *waits(void *ready)
{
    struct epoll_event event;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);

    ATTACH(0x4711);
    shared->tid = gettid_raw();
    say_ready(*(int *)ready);
    if (epoll_wait(epoll, &event, 1, -1) != 0)
        shared->error = errno;
    for (;;)
        pause();
    return NULL;
}

static void with_waiter(int ready, int commands)
{
    static int descriptor;
    pthread_t thread;

    (void)commands;
    descriptor = ready;
    announce();
    pthread_create(&thread, NULL, waits, &descriptor);
    for (;;)
        pause();
}

Test(reader_threads, no_stop_reads_threads_and_does_not_stop_them)
{
#if !defined(__x86_64__) || !defined(__GLIBC__)
    cr_skip_test("machine: it takes glibc on x86-64");
#endif
    shared = share(sizeof(*shared));
    const struct target target = target_start(with_waiter);

    EVENTUALLY(state_of(target.pid, shared->tid) == 'S');
    EXPECT_STATUS(RUN("--json", "--threads", "--no-stop", number(target.pid)),
                  0);
    EXPECT_JSON(".[0] | .thread_context.status == \"ok\" and "
                ".thread_context.stopped == false and "
                "([.threads[] | has(\"stopped_ns\")] | any | not) and "
                "([.threads[].status] == [\"detached\", \"attached\"]) and "
                ".threads[1].trace_id == \"00000000000047110000000000004711\" "
                "and .threads[1].attributes[0].key == \"http.route\"");
    EXPECT_STATUS(RUN("--threads", "--no-stop", number(target.pid)), 0);
    EXPECT_TEXT(last.out, "  threads\n    (not stopped while they were read");
    sleep_ms(20);
    cr_expect_eq(shared->error, 0, "errno %d", shared->error);
    target_end(&target);
}
