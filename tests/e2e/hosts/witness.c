/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library behind the shim's prctl: as often as a mapping is named through
 * that, it stops the process, so that readers can look at this very moment.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

extern int prctl_of_library(int option, unsigned long a, unsigned long b,
                            unsigned long c, unsigned long d) __asm__("prctl")
    __attribute__((visibility("default")));

int prctl_of_library(int option, unsigned long a, unsigned long b,
                     unsigned long c, unsigned long d)
{
    if (option == PR_SET_VMA)
        raise(SIGSTOP);
    return (int)syscall(SYS_prctl, option, a, b, c, d);
}
