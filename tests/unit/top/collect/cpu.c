/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/cpu.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void use(long ns)
{
    struct timespec begun, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec -
                 begun.tv_nsec <
             ns);
}

Test(cpu, the_time_of_a_process_goes_on_as_it_runs)
{
    uint64_t before;
    uint64_t after;

    cr_assert_eq(oteltop_cpu_of_process(getpid(), &before), 0);
    use(20000000);
    cr_assert_eq(oteltop_cpu_of_process(getpid(), &after), 0);
    cr_expect_geq(after - before, 20000000);
}

Test(cpu, a_process_that_is_gone_has_none)
{
    const pid_t pid = fork();
    uint64_t time;

    if (pid == 0)
        _exit(0);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_expect_eq(oteltop_cpu_of_process(pid, &time), -ESRCH);
}

/* The kernel counts a child's time when it leaves the processor. */
Test(cpu, a_thread_has_time_and_slices)
{
    const pid_t pid = fork();
    struct oteltop_schedstat now;
    char path[32];
    int status;

    if (pid == 0) {
        use(20000000);
        (void)raise(SIGSTOP);
        _exit(0);
    }
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    const int directory = open(path, O_PATH | O_DIRECTORY);
    const int fd = oteltop_schedstat_open(directory, pid);

    cr_assert_geq(fd, 0);
    cr_expect_eq(oteltop_schedstat_read(fd, &now), 0);
    cr_expect_geq(now.cpu_ns, 20000000);
    cr_expect_gt(now.slices, 0);
    cr_expect_eq(oteltop_schedstat_open(directory, 1), -ENOENT);
    (void)kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(oteltop_schedstat_read(fd, &now), -ESRCH);
}
