/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/start/prctl_module.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/*
 * The library that comes after the program in the order in which the dynamic
 * linker looks for symbols, with a prctl of its own, as gcc's TSan has one.
 */
unsigned long next_prctl_calls, next_prctl_args[4];
int next_prctl_option;
void (*next_prctl_look)(void);
bool next_prctl_refuses;

int prctl(int option, ...)
{
    unsigned long *const args = next_prctl_args;
    va_list list;

    va_start(list, option);
    for (unsigned i = 0; i < 4; i++)
        args[i] = va_arg(list, unsigned long);
    va_end(list);
    next_prctl_calls++;
    next_prctl_option = option;
    if (option == PR_SET_VMA && next_prctl_look)
        next_prctl_look();
    if (option == PR_SET_VMA && next_prctl_refuses) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_prctl, option, args[0], args[1], args[2], args[3]);
}
