/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/base/lock.h"

/*
 * A child of libc's fork(2) has its own context before that returns in it. One
 * of a raw clone(2) or _Fork(3) gets it when it first makes a call, of ours or
 * of libc's prctl. One of vfork(2) borrows its parent's memory, and nothing
 * changes. The parent of a fork makes no system call but for the lock.
 */

/* Of the first call of all, which starts the shim: a second thread waits. A
 * child finds it free, unless it is in the middle of that call itself. */
extern struct otelctx_lock otelctx_start_lock
    __attribute__((visibility("hidden")));

/* Once, before anything is published. */
void otelctx_fork_start(void);
