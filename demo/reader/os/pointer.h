/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * The thread pointer (fs_base, TPIDR_EL0) of a thread that is stopped by
 * ptrace and traced by the calling thread. Returns 0, -ESRCH (it was killed),
 * -ENOTSUP (32-bit ARM, or an architecture that is not known here) or -errno.
 */
int otelread_pointer_stopped(pid_t tid, uint64_t *pointer);

/*
 * The same of a running thread, derived from addresses that libc told the
 * kernel. Returns 0, -ENOENT (cannot be derived), -ESRCH, -ETIMEDOUT (as
 * otelread_memory_read()) or -errno.
 */
int otelread_pointer_running(struct otelread_target *target, pid_t tid,
                             uint64_t *pointer);
