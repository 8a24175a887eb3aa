/* SPDX-License-Identifier: Apache-2.0 */

/* The shim's fork handlers do no harm to the program: not under restrictions,
 * and not beside other threads, publishers and processes. */

#include "tests/e2e/fork/fork.h"
#include "tests/e2e/hosts/publisher.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

TestSuite(fork_unnoticed, .timeout = 120);

/* No malloc here: two processes that share memory must not use libc's heap at
 * once. */
static unsigned mappings(void)
{
    static char text[1 << 16];
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    unsigned count = 0;
    ssize_t got;

    while (used < sizeof(text) - 1 &&
           (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    for (const char *at = text; (at = strstr(at, "OTEL_CTX")); at++)
        count++;
    return count;
}

/* ---- Where reading the vDSO's clock kills the process ------------------- */

/* By a raw system call, which the shim does not see. */
static void forbid_the_counter(void)
{
    if (syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
        _exit(ENOSYS);
}

static void unmap_the_vdso(void)
{
    const uintptr_t at = getauxval(AT_SYSINFO_EHDR);
    size_t pages = 1;

    while (munmap((void *)at, pages * (size_t)getpagesize()) != 0)
        if (++pages > 16) /* munmap takes the whole vDSO only */
            _exit(ENOSYS);
}

/* Another process checks the result: Criterion needs the clock. */
struct stage {
    int told[2], judged[2];
};

static void fork_and_tell(void (*break_clock)(void), const struct stage *stage)
{
    pid_t child;
    char byte;

    publish("1");
    publish("2"); /* reads the vDSO's clock */
    break_clock();
    child = fork();
    if (child == 0) {
        child = getpid();
        if (write(stage->told[1], &child, sizeof(child)) != sizeof(child))
            _exit(CALL_FAILED);
    }
    (void)!read(stage->judged[0], &byte, 1);
    _exit(child == getpid() ? 0 : status_of(child));
}

static void expect_context_of_child_where(void (*break_clock)(void))
{
    struct stage stage;
    pid_t parent, child = 0;
    int status;

    cr_assert_eq(pipe(stage.told) | pipe(stage.judged), 0);
    parent = fork();
    if (parent == 0) {
        close(stage.judged[1]);
        fork_and_tell(break_clock, &stage);
    }
    close(stage.told[1]);
    close(stage.judged[0]);
    if (read(stage.told[0], &child, sizeof(child)) == sizeof(child))
        cr_expect_eq(judge(child, "n", "2"), AS_IT_SHOULD_BE);
    close(stage.judged[1]);
    status = status_of(parent);
    if (status == ENOSYS)
        cr_skip_test("machine: it does not let us break the clock");
    cr_expect_eq(status, 0);
    cr_expect_neq(child, 0, "there is no child");
}

Test(fork_unnoticed, a_child_has_a_context_where_reading_the_tsc_is_forbidden)
{
    expect_context_of_child_where(forbid_the_counter);
}

Test(fork_unnoticed, a_child_has_a_context_where_the_vdso_is_unmapped)
{
    expect_context_of_child_where(unmap_the_vdso);
}

/* ---- Where descriptors are few ------------------------------------------ */

enum {
    FORKS = 3000
};
static volatile bool forked_all;
static int lowest;

/* Only one descriptor is free, and this thread keeps opening and closing it. */
static void *open_and_close(void *unused)
{
    uintptr_t surprises = 0;

    (void)unused;
    while (!forked_all) {
        const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        surprises += fd != lowest;
        close(fd);
    }
    return (void *)surprises;
}

Test(fork_unnoticed, a_fork_takes_no_descriptor_from_another_thread)
{
    struct rlimit limit;
    pthread_t thread;
    void *surprises;

    publish("1");
    lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    cr_assert_geq(lowest, 0);
    close(lowest);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = (rlim_t)lowest + 1;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(pthread_create(&thread, NULL, open_and_close, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();

        if (child == 0)
            _exit(0);
        cr_assert_eq(status_of(child), 0);
    }
    forked_all = true;
    cr_assert_eq(pthread_join(thread, &surprises), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit); /* the reader needs descriptors */
    cr_expect_eq((uintptr_t)surprises, 0);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

/* ---- Where another publisher comes and goes ------------------------------ */

enum {
    SECONDS = 5
};

static void *publish_all_the_time(void *unused)
{
    while (!forked_all)
        (void)otelctx_process_publish();
    return unused;
}

Test(fork_unnoticed, another_publisher_may_unmap_its_context_at_any_time)
{
    pthread_t thread;
    const time_t end = time(NULL) + SECONDS;

    publish("1");
    forked_all = false;
    cr_assert_eq(pthread_create(&thread, NULL, publish_all_the_time, NULL), 0);
    for (int round = 0; time(NULL) < end; round++) {
        cr_assert_eq(publisher_does("other", "raw"), 0);
        for (volatile int i = round * 997 % 20000; i > 0; i--)
            ;
        cr_assert_eq(munmap(publisher_at, (size_t)getpagesize()), 0);
    }
    forked_all = true;
    cr_assert_eq(pthread_join(thread, NULL), 0);
    publish("2");
    cr_expect_eq(judge_self("2"), AS_IT_SHOULD_BE);
}

/* ---- Where a signal handler forks, and another publisher is there -------- */

static volatile bool is_child;
static int forked, faulty;

static void fork_in_handler(int number)
{
    const pid_t child = fork();

    (void)number;
    is_child = child == 0;
    if (child > 0) {
        forked++;
        faulty += status_of(child) != 1;
    }
}

Test(fork_unnoticed, a_child_forked_in_a_call_has_the_shims_context_alone)
{
    const struct sigaction action = {.sa_handler = fork_in_handler};
    const struct itimerval often = {{0, 1700}, {0, 1700}}, never = {0};

    publish("1");
    cr_assert_eq(publisher_does("other", "libc"), 0);
    cr_assert_eq(otelctx_process_publish(), -ESTALE);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (forked < 300) {
        (void)otelctx_process_publish();
        if (is_child)
            _exit((int)mappings());
    }
    setitimer(ITIMER_REAL, &never, NULL);
    /* A signal that comes in the last instructions of a call interrupts the
     * next one. */
    cr_expect_lt(faulty, forked / 20, "%d of %d have none, or two", faulty,
                 forked);
}

/* ---- Where the clock goes back ------------------------------------------ */

/* Put children into a time namespace whose boot was ten seconds ago. */
static bool set_the_clock_back(void)
{
    const int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    struct timespec now;
    bool is_set;

    if (fd < 0 || unshare(CLONE_NEWTIME))
        return false;
    clock_gettime(CLOCK_BOOTTIME, &now);
    is_set = dprintf(fd, "boottime %ld 0\n", 10 - (long)now.tv_sec) > 0;
    close(fd);
    return is_set;
}

Test(fork_unnoticed, the_shim_sees_another_publisher_where_the_clock_went_back)
{
    pid_t child;

    publish("1");
    child = fork(); /* only the first child looks for other publishers */
    if (child == 0)
        _exit(0);
    cr_assert_eq(status_of(child), 0);
    if (!set_the_clock_back())
        cr_skip_test("machine: no time namespace");
    child = fork();
    if (child == 0) {
        int err = publisher_does("other", "raw");

        for (int tries = 0; err == 0 && tries < 15 * 100; tries++) {
            usleep(10000);
            err = otelctx_process_publish();
        }
        _exit(err == -ESTALE ? 0 : CALL_FAILED);
    }
    cr_expect_eq(status_of(child), 0);
}

/* ---- Two processes with one memory, and one thread pointer --------------- */

enum {
    ROUNDS = 400,
    STACK_SIZE = 256 << 10
};

/* How many rounds went wrong. */
static int call_and_fork(void *unused)
{
    int faults = 0;

    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child;
        int status = -1;

        faults += otelctx_process_publish() != 0;
        child = fork();
        if (child == 0)
            _exit(mappings() == 1 ? 0 : NOT_ONE_CONTEXT);
        faults += waitpid(child, &status, 0) != child || status != 0;
    }
    return faults;
}

Test(fork_unnoticed, processes_that_share_memory_wait_for_each_others_calls)
{
    char *const stack = malloc(STACK_SIZE);
    pid_t other;

    publish("1");
    other = clone(call_and_fork, stack + STACK_SIZE, CLONE_VM | SIGCHLD, NULL);
    cr_assert_gt(other, 0);
    cr_expect_eq(call_and_fork(NULL), 0);
    cr_expect_eq(status_of(other), 0);
    cr_expect_eq(mappings(), 1);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
    free(stack);
}
