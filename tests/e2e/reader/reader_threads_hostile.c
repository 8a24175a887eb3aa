/* SPDX-License-Identifier: Apache-2.0 */

/*
 * otelctx-read --threads: contexts that change between the two steps of a read,
 * and threads that cannot be read.
 */

#include "tests/e2e/reader/reader_threads.h"

#include "demo/reader/command/once.h"
#include "demo/reader/print/json.h"
#include "demo/reader/report/threads.h"

#include <criterion/redirect.h>
#include <linux/io_uring.h>
#include <sched.h>

TestSuite(reader_threads_hostile, .timeout = 600);

/* What a target tells its test. */
static volatile struct {
    int stage;
    int error;
    pid_t tid;
} * shared;

/* ---- between the two steps ---------------------------------------------- */

static void adds_a_key(int ready, int commands)
{
    struct page *const page = announce();
    char byte;

    say_ready(ready);
    if (read(commands, &byte, 1) != 1)
        _exit(99);
    page->header.published_at_ns = 0;
    PUBLISH(page, SCHEMA TWO_KEYS);
    attach_number(1, "\x01\x02me", 4);
    shared->stage = 1;
}

Test(reader_threads_hostile,
     an_unknown_index_makes_the_reader_read_the_map_again)
{
    struct otelread_report report = {.status = OTELREAD_OK};

    shared = share(sizeof(*shared));
    const struct target target = target_start(adds_a_key);
    otelread_report_make(&report, target.pid, OTELREAD_PATIENCE_LONG);
    target_tell(&target, 'a');
    EVENTUALLY(shared->stage == 1);

    cr_expect_eq(otelread_report_read_threads(&report, true), 0);
    cr_assert_eq(report.threads->sample.count, 1);
    cr_expect_eq(report.threads->map.count, 2);
    cr_expect_eq(report.threads->sample.threads[0].status,
                 OTELREAD_THREAD_ATTACHED);
    cr_expect_str_empty(report.threads->sample.threads[0].message);
    otelread_report_free(&report);
    target_end(&target);
}

static void *uses_the_second_key(void *unused)
{
    attach_number(2, "\x01\x02me", 4);
    shared->stage = 1;
    for (;;)
        pause();
    return unused;
}

static void changes_the_keys(int ready, int commands)
{
    struct page *const page = announce();
    pthread_t thread;
    char byte;

    ATTACH(1);
    say_ready(ready);
    if (read(commands, &byte, 1) != 1)
        _exit(99);
    page->header.published_at_ns = 0;
    PUBLISH(page, SCHEMA OTHER_KEYS);
    pthread_create(&thread, NULL, uses_the_second_key, NULL);
}

/* The first thread's keys are in the old map, the second thread's are not. */
Test(reader_threads_hostile, all_threads_are_decoded_with_the_map_that_is_shown)
{
    struct otelread_report report = {.status = OTELREAD_OK};

    shared = share(sizeof(*shared));
    const struct target target = target_start(changes_the_keys);
    otelread_report_make(&report, target.pid, OTELREAD_PATIENCE_LONG);
    target_tell(&target, 'c');
    EVENTUALLY(shared->stage == 1);

    cr_expect_eq(otelread_report_read_threads(&report, true), 0);
    cr_assert_eq(report.threads->sample.count, 2);
    cr_expect_null(report.threads->map.keys[0].bytes);
    cr_expect_str_eq(report.threads->sample.threads[0].message,
                     "key index 0: not in the key map, and left out");
    cr_expect_str_empty(report.threads->sample.threads[1].message);
    otelread_report_free(&report);
    target_end(&target);
}

static void drops(int ready, int commands)
{
    struct page *const page = announce();
    char byte;

    attach_number(1, "\x01\x02me", 4);
    say_ready(ready);
    if (read(commands, &byte, 1) != 1)
        _exit(99);
    page->header.published_at_ns = 0;
    shared->stage = 1;
}

Test(reader_threads_hostile, a_map_that_cannot_be_read_again_is_kept)
{
    struct otelread_report report = {.status = OTELREAD_OK};

    shared = share(sizeof(*shared));
    const struct target target = target_start(drops);
    otelread_report_make(&report, target.pid, OTELREAD_PATIENCE_LONG);
    target_tell(&target, 'd');
    EVENTUALLY(shared->stage == 1);

    cr_expect_eq(otelread_report_read_threads(&report, true), 0);
    cr_assert_eq(report.threads->sample.count, 1);
    cr_expect_eq(report.threads->map.count, 1);
    cr_expect(strstr(report.threads->sample.threads[0].message, "key index 1"));
    otelread_report_free(&report);
    target_end(&target);
}

static void execs(int ready, int commands)
{
    char byte;

    announce();
    ATTACH(1);
    say_ready(ready);
    if (read(commands, &byte, 1) == 1)
        execlp("sleep", "sleep", "60", (char *)NULL);
    _exit(99);
}

Test(reader_threads_hostile,
     threads_are_not_decoded_with_the_map_of_an_earlier_program)
{
    struct otelread_report report = {.status = OTELREAD_OK};
    struct otelread_output output = {.print = otelread_json_print};
    const struct target target = target_start(execs);
    char was[64];

    otelread_report_make(&report, target.pid, OTELREAD_PATIENCE_LONG);
    cr_expect_eq(report.status, OTELREAD_OK);
    snprintf(was, sizeof(was), "%s", report.target.command);
    target_tell(&target, 'x');
    for (int i = 0; i < LIMIT_SEC * 100; i++) {
        struct otelread_stat stat;

        if (otelread_stat_read(target.pid, target.pid, &stat) == 0 &&
            strcmp(stat.command, "sleep") == 0)
            break;
        sleep_ms(10);
    }
    cr_expect_eq(otelread_report_read_threads(&report, true), -EAGAIN);
    cr_expect_eq(report.threads->status, OTELREAD_THREADS_ERROR);
    cr_expect_eq(report.threads->sample.count, 0);
    otelread_report_free(&report);

    cr_redirect_stdout();
    cr_redirect_stderr();
    cr_expect_eq(otelread_once(&output, &target.pid, 1, OTELREAD_DEPTH_STOPPED),
                 OTELREAD_NO_CONTEXT,
                 "made again, the report is of the new program");
    target_end(&target);
}

/* ---- threads that cannot be read ---------------------------------------- */

static void main_thread_exits(int ready, int commands)
{
    static int descriptor;
    pthread_t thread;

    (void)commands;
    descriptor = ready;
    announce();
    ATTACH(1);
    pthread_create(&thread, NULL, work, &descriptor);
    pthread_exit(NULL);
}

Test(reader_threads_hostile,
     a_main_thread_that_exited_has_ended_and_others_are_read)
{
    const struct target target = target_start(main_thread_exits);

    EVENTUALLY(state_of(target.pid, target.pid) == 'Z');
    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    EXPECT_JSON(".[0].threads | length == 2 and .[0].status == \"ended\" and "
                ".[0].state == \"Z\" and .[1].status == \"attached\"");
    target_end(&target);
}

/* vfork(2) makes a thread uninterruptible until the child ends. */
static void *vforks(void *commands)
{
    ATTACH(2);
    shared->tid = gettid_raw();
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
        char byte;

        while (read(*(int *)commands, &byte, 1) != 1)
            ;
        _exit(0);
    }
    shared->stage = 1;
    for (;;)
        pause();
    return NULL;
}

static void with_uninterruptible(int ready, int commands)
{
    static int descriptor;
    pthread_t thread;

    descriptor = commands;
    announce();
    ATTACH(1);
    pthread_create(&thread, NULL, vforks, &descriptor);
    while (shared->tid == 0 || state_of(getpid(), shared->tid) != 'D')
        sleep_ms(1);
    say_ready(ready);
}

Test(reader_threads_hostile, a_thread_that_cannot_be_stopped_is_left_alone)
{
    shared = share(sizeof(*shared));
    const struct target target = target_start(with_uninterruptible);

    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    EXPECT_JSON(".[0].threads | length == 2 and .[0].status == \"attached\" "
                "and (.[1] | .status == \"not_stopped\" and .state == \"D\" "
                "and (has(\"stopped_ns\") | not) and "
                "(.message | contains(\"did not stop within\")))");
    target_tell(&target, 'c');
    EVENTUALLY(shared->stage == 1);
    target_end(&target);
}

/* Makes the kernel start an io_uring worker, with a read that waits. Returns
 * success. */
static bool start_worker(void)
{
    struct io_uring_params params = {.flags = 0};
    const int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
    int ends[2];
    static char byte;

    if (ring < 0 || pipe(ends) != 0)
        return false;
    char *const queue =
        mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(uint32_t),
             PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *const entries =
        mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
             MAP_SHARED, ring, IORING_OFF_SQES);
    if (queue == MAP_FAILED || entries == MAP_FAILED)
        return false;
    entries[0] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                       .flags = IOSQE_ASYNC,
                                       .fd = ends[0],
                                       .addr = (uintptr_t)&byte,
                                       .len = 1};
    __atomic_fetch_add((uint32_t *)(void *)(queue + params.sq_off.tail), 1,
                       __ATOMIC_SEQ_CST);
    return syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) == 1;
}

static void with_kernel_worker(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(1);
    shared->stage = start_worker() ? 1 : 2;
    say_ready(ready);
}

/* Such a worker has a copy of the submitting thread's thread pointer. */
Test(reader_threads_hostile, an_io_uring_worker_has_no_context_of_its_own)
{
    shared = share(sizeof(*shared));
    const struct target target = target_start(with_kernel_worker);

    if (shared->stage != 1) {
        target_end(&target);
        cr_skip_test("machine: the kernel allows no io_uring");
    }
    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    EXPECT_JSON(".[0].threads | length == 2 and .[0].status == \"attached\" "
                "and (.[1] | .status == \"untouched\" and "
                "(.name | startswith(\"iou-wrk\")) and "
                "(has(\"stopped_ns\") or has(\"trace_id\") | not))");
    target_end(&target);
}

static void nothing(int ready, int commands)
{
    (void)commands;
    say_ready(ready);
}

static void traced(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(1);
    say_ready(ready);
}

Test(reader_threads_hostile, a_process_under_another_tracer_is_status_4)
{
    const struct target target = target_start(traced);
    char message[64];

    seize(target.pid);
    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 4);
    snprintf(message, sizeof(message), "it is being traced by PID %d\n",
             (int)gettid_raw());
    EXPECT_TEXT(last.err, message);
    EXPECT_JSON(".[0] | .status == \"ok\" and .contexts != [] and "
                ".thread_context.status == \"no_permission\" and "
                "(.thread_context.message | contains(\"traced by PID\")) and "
                ".threads == []");
    EXPECT_STATUS(RUN("--json", "--threads", "--no-stop", number(target.pid)),
                  0);
    target_end(&target);
}

Test(reader_threads_hostile, only_the_traced_thread_of_a_process_is_not_read)
{
    const struct target target = target_start(with_worker);

    seize(target.pid);
    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    EXPECT_JSON(".[0] | .thread_context.status == \"ok\" and "
                "([.threads[].status] == [\"no_permission\", \"attached\"]) "
                "and (.threads[0].message | contains(\"traced by PID\"))");
    target_end(&target);
}

static void become_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(94);
}

Test(reader_threads_hostile,
     without_permission_to_read_the_process_no_threads_are_shown)
{
    if (getuid() != 0 || RUN_WITH(become_nobody, "--version") != 0)
        cr_skip_test("machine: only root can become somebody else");

    const struct target target = target_start(nothing);
    EXPECT_STATUS(
        RUN_WITH(become_nobody, "--json", "--threads", number(target.pid)), 4);
    EXPECT_JSON(".[0] | .thread_context.status == \"no_permission\" and "
                ".threads == []");
    target_end(&target);
}
