/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_CONTEXT_H
#define OTELCTX_CONTEXT_H

/*
 * The process context of this process: what is staged, what is published, and
 * the one lock over both. It is made when it is first entered.
 *
 * All that must not outlive a fork (lock, mapping, timestamp) is in one page
 * that the kernel wipes in a child; the attributes outlive it. They are kept in
 * versions that are replaced whole, by one store: so a child that was forked in
 * the middle of anything finds a version that is complete.
 */

#include "shim/payload.h"

/*
 * Take the lock; in a process that has no context yet, also make one, with the
 * default service.name and nothing published.
 *
 * Returns 0, -EBUSY (a signal handler interrupted the owner) or -errno.
 */
int otelctx_context_enter(void);
void otelctx_context_leave(void);

/* All from here on: only between enter and leave. */

/* A copy of what is staged, to be changed; forgotten unless staged. */
struct otelctx_payload *otelctx_context_edit(void);
void otelctx_context_stage(void);

/* OTELCTX_PAYLOAD_MAX bytes that nothing else uses. */
char *otelctx_context_scratch(void);

/* "unknown_service:" and the executable, the rule of the resource SDKs. */
int otelctx_context_default_name(struct otelctx_payload *payload);

/*
 * Publish what is staged.
 *
 * Returns 0 or -errno; *failed then names the system call at fault, and what
 * was published stays.
 */
int otelctx_context_publish(const char **failed);

void otelctx_context_drop(void);

/* What is staged, for those who tell people about it. */
const struct otelctx_payload *otelctx_context_staged(void);

#endif
