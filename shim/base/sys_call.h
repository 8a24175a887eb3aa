/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The system call instruction, for sys.h alone, and the system calls' numbers
 * (SYS_*). */

#include <sys/syscall.h>

#include "shim/base/compiler.h"

OTELCTX_INLINE long otelctx_syscall(long number, long a, long b, long c, long d,
                                    long e, long f)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = number;

    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long result __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
#else
#error "x86-64 and aarch64 only"
#endif
    return result;
}
