/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_POINTER_H
#define OTELREAD_POINTER_H

#include "demo/reader/target.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * The thread pointer (fs_base, TPIDR_EL0) of a thread that is stopped by
 * ptrace and traced by the calling thread. Returns 0, -ESRCH (it was killed),
 * -ENOTSUP (32-bit, or an architecture that is not known here) or -errno.
 */
int otelread_pointer_stopped(pid_t tid, uint64_t *pointer);

/*
 * The same of a thread that runs on, guessed from what libc tells the kernel.
 * Returns 0, -ENOENT (it cannot be had like that), -ESRCH or -errno.
 */
int otelread_pointer_running(struct otelread_target *target, pid_t tid,
                             uint64_t *pointer);

#endif
