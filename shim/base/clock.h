/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * CLOCK_BOOTTIME in nanoseconds; 0 if the kernel refuses. Not through libc's
 * clock_gettime(), which libfaketime and sanitizers interpose.
 */

/*
 * Read the clock with a system call. At start this is cheaper than finding the
 * vDSO. A start, a fork or the host's own prctl call must not use the vDSO at
 * all: its clock reads the processor's time-stamp counter (TSC), which raises
 * SIGSEGV if the host has called PR_SET_TSC with PR_TSC_SIGSEGV.
 */
uint64_t otelctx_clock_read(void);

/*
 * Read the clock through the vDSO if that is safe, else with a system call. For
 * updates, which the host has asked for.
 *
 * vdso  caches the result of otelctx_clock_find_vdso(); 0: not found yet
 */
uint64_t otelctx_clock_read_fast(uint64_t *vdso);

/* Find the vDSO's clock function without calling it, and store it in *vdso; or
 * that there is none to use, because the vDSO is unmapped or this thread must
 * not read the TSC. */
void otelctx_clock_find_vdso(uint64_t *vdso);

/* Never use the vDSO again: the host called PR_SET_TSC. */
void otelctx_clock_disable_vdso(void);
