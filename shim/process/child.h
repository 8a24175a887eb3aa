/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_CHILD_H
#define OTELCTX_PROCESS_CHILD_H

/* The process context in a forked child. The caller holds the lock. */

/* What the child does with what its parent had published. */
enum otelctx_child {
    OTELCTX_CHILD_PUBLISHES,
    OTELCTX_CHILD_DROPS,
    OTELCTX_CHILD_MUST_BE_QUIET, /* drops, without a system call */
};

/* The first thing in a forked child. */
void otelctx_child_begin(enum otelctx_child what);

/*
 * A signal handler may fork in the middle of a call. Its child has a copy of
 * all state and continues that call. The first function is for the beginning of
 * that child, the second for the end of the continued call.
 */
void otelctx_child_resume(enum otelctx_child what);
void otelctx_child_end_resumed(void);

#endif
