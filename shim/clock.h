/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_CLOCK_H
#define OTELCTX_CLOCK_H

#include <stdint.h>

/*
 * CLOCK_BOOTTIME in nanoseconds; 0 where the system does not tell.
 *
 * first  by system call, which at start is cheaper than to look for the vDSO
 * update through the vDSO where there is one
 *
 * Not libc's clock_gettime: libfaketime and sanitizers interpose it.
 */
uint64_t otelctx_clock_first(void);
uint64_t otelctx_clock_update(void);

#endif
