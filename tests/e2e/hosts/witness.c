/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A library whose prctl the shim's prctl calls. It stops the process each time
 * that a mapping is named, so that readers can look at this moment.
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
