/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What surrounds each call that concerns the process context: take the lock,
 * and find out whether the process was forked or has another publisher.
 */

#include <stdbool.h>

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

/* otelctx_guard_enter() before a fork: if the publisher to whom this process
 * has yielded is gone, parent and child publish again. */
int otelctx_guard_enter_to_fork(void);

/* The same at any other call, without waiting for another thread. */
void otelctx_guard_return(void);

/* After enter: check for a rival, then otelctx_context_publish(). The second
 * one also leaves. */
int otelctx_guard_publish_at_start(void);
int otelctx_guard_publish_and_leave(void);

/* ---- Forked children ---- */

/* What the child does with what its parent had published. */
enum otelctx_child {
    OTELCTX_CHILD_PUBLISHES,
    OTELCTX_CHILD_DROPS,
    OTELCTX_CHILD_MUST_BE_QUIET, /* drops, without a system call */
};

/* What this process does if it is a child. Makes a system call only if its
 * parent published. */
enum otelctx_child otelctx_guard_child_does(void);

/* If this is a child of a fork that bypassed libc: give it its own context. */
void otelctx_guard_notice_fork(void);

/* What follows is for the owner of the lock. */

/* The first thing in a forked child. */
void otelctx_guard_child_begin(enum otelctx_child what);

/*
 * A signal handler may fork in the middle of a call. Its child has a copy of
 * all state and continues that call. The first function is for the beginning of
 * that child, the second for the end of the continued call.
 */
void otelctx_guard_child_resume(enum otelctx_child what);
void otelctx_guard_child_end_resumed(void);
