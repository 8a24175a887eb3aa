/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_GUARD_H
#define OTELCTX_PROCESS_GUARD_H

/*
 * Around every call for the process context: the lock, and what has happened
 * to the process since the last call.
 */

#include <stdbool.h>

#include "shim/process/child.h"

/* Once, before anything is published. republishes: OTELCTX_FORK. */
void otelctx_guard_start(bool republishes);

/*
 * otelctx_state_lock() and otelctx_state_unlock(). The first call in a forked
 * child, also of a fork that libc knows nothing of, begins with a context of
 * its own.
 */
int otelctx_guard_enter(void);
void otelctx_guard_leave(void);

/* The same with otelctx_state_try_lock(): for calls that must not wait. */
int otelctx_guard_try_enter(void);

/* Between them, and the latter instead of leave: check for a rival, then
 * otelctx_context_publish(). */
int otelctx_guard_publish_at_start(void);
int otelctx_guard_publish_and_leave(void);

/* What this process does if it is a child. Asks the kernel only when there is
 * something to be published. */
enum otelctx_child otelctx_guard_child_does(void);

/* If this is a child of a fork that libc knows nothing of: begin. */
void otelctx_guard_notice_fork(void);

#endif
