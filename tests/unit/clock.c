/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/clock.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In place of libc's: a system that has no vDSO. */
static bool no_vdso;

unsigned long getauxval(unsigned long type)
{
    unsigned long (*libcs)(unsigned long);

    *(void **)&libcs = dlsym(RTLD_NEXT, "getauxval");
    return no_vdso && type == AT_SYSINFO_EHDR ? 0 : libcs(type);
}

/* Make CLOCK_BOOTTIME, in children, differ from all other clocks. */
static void shift_boottime(void)
{
    static const char offset[] = "boottime 1000000 0\n";
    int fd;

    if (unshare(CLONE_NEWTIME))
        return; /* not privileged: to tell it from CLOCK_REALTIME will do */
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

/* OTEP 4719, "Header Structure". */

Test(clock, the_first_timestamp_is_of_boottime_in_nanoseconds)
{
    cr_expect(is_boottime(otelctx_clock_first));
}

Test(clock, the_timestamp_of_an_update_is_of_boottime_in_nanoseconds)
{
    cr_expect(is_boottime(otelctx_clock_update));
}

Test(clock, the_timestamp_of_an_update_is_that_also_without_a_vdso)
{
    no_vdso = true;
    cr_expect(is_boottime(otelctx_clock_update));
}
