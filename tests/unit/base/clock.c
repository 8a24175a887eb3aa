/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/clock.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Instead of libc's: hides the vDSO when a test asks for that. */
static bool no_vdso;

unsigned long getauxval(unsigned long type)
{
    unsigned long (*libcs)(unsigned long);

    *(void **)&libcs = dlsym(RTLD_NEXT, "getauxval");
    return no_vdso && type == AT_SYSINFO_EHDR ? 0 : libcs(type);
}

/* Make CLOCK_BOOTTIME differ from every other clock, in later children. */
static void shift_boottime(void)
{
    static const char offset[] = "boottime 1000000 0\n";
    int fd;

    if (unshare(CLONE_NEWTIME))
        return; /* no privilege: it differs from CLOCK_REALTIME at least */
    fd = open("/proc/self/timens_offsets", O_WRONLY);
    cr_assert_eq(write(fd, offset, strlen(offset)), (ssize_t)strlen(offset));
    close(fd);
}

static uint64_t boottime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_boottime(uint64_t (*clock)(void))
{
    int status;
    pid_t pid;

    shift_boottime();
    pid = fork();
    if (pid == 0) {
        const uint64_t before = boottime_ns();
        const uint64_t told = clock();

        _exit(before <= told && told <= boottime_ns() ? 0 : 1);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t fast(void)
{
    uint64_t vdso = 0;

    return otelctx_clock_read_fast(&vdso);
}

/* OTEP 4719, "Header Structure". */

Test(clock, the_first_timestamp_is_of_boottime_in_nanoseconds)
{
    cr_expect(is_boottime(otelctx_clock_read));
}

Test(clock, the_timestamp_of_an_update_is_of_boottime_in_nanoseconds)
{
    cr_expect(is_boottime(fast));
}

Test(clock, the_timestamp_of_an_update_is_that_also_without_a_vdso)
{
    no_vdso = true;
    cr_expect(is_boottime(fast));
}

/* ---- When the vDSO's clock would kill the process ------------------------ */

/* In a child, because Criterion reads the clock as well. */
static int signal_of_child(void (*child)(void))
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        child();
        _exit(0);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* The vDSO's clock reads the time-stamp counter, so it then raises SIGSEGV. */
static void forbid_the_counter(void)
{
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
        _exit(ENOSYS);
}

static void forbid_and_ask(void)
{
    forbid_the_counter();
    _exit(fast() == 0);
}

static void ask_and_forbid_and_ask(void)
{
    uint64_t vdso = 0;

    if (otelctx_clock_read_fast(&vdso) == 0)
        _exit(1);
    forbid_the_counter();
    otelctx_clock_disable_vdso();
    _exit(otelctx_clock_read_fast(&vdso) == 0);
}

static void expect_to_live(void (*child)(void))
{
    const int result = signal_of_child(child);

    if (result == ENOSYS)
        cr_skip_test("machine: this processor's counter cannot be forbidden");
    cr_expect_eq(result, 0);
}

Test(clock, a_thread_that_must_not_read_the_counter_asks_the_kernel)
{
    expect_to_live(forbid_and_ask);
}

Test(clock, nobody_reads_the_counter_once_the_host_has_forbidden_it)
{
    expect_to_live(ask_and_forbid_and_ask);
}

static void unmap_and_ask(void)
{
    const uintptr_t at = getauxval(AT_SYSINFO_EHDR);
    const size_t page = (size_t)getpagesize();
    size_t pages = 1;

    while (munmap((void *)at, pages * page) != 0) /* refuses a part of it */
        if (++pages > 16)
            _exit(ENOSYS);
    _exit(fast() == 0);
}

Test(clock, a_vdso_that_is_unmapped_is_not_read)
{
    expect_to_live(unmap_and_ask);
}
