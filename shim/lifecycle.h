/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_LIFECYCLE_H
#define OTELCTX_LIFECYCLE_H

/*
 * What becomes of the process context when the process forks, and when somebody
 * else in it publishes a process context, too.
 *
 * A child of libc's fork(2) has its own context before that returns in it. One
 * of a raw clone(2) or _Fork(3) gets it when it first makes a call; one of
 * vfork(2) borrows its parent's memory, and nothing changes.
 */

#include <stdbool.h>

#include "config/options.h"

/* Once, before anything is published. */
void otelctx_lifecycle_start(const struct otelctx_options *options);

/* otelctx_context_enter() and _leave(), which notice what has happened. */
int otelctx_lifecycle_enter(void);
void otelctx_lifecycle_leave(void);

/*
 * Between enter and leave, before something is published: if there is another
 * publisher in the process, withdraw. The one at `start` may rely on seeing
 * whoever publishes through libc.
 */
void otelctx_lifecycle_check(bool at_start);

/* That, then otelctx_context_publish(), and, unless at start, leave. */
int otelctx_lifecycle_publish(bool at_start);

/* The host is about to name a mapping, at this address, as a process context.
 */
void otelctx_lifecycle_note_publisher(const void *at);

/* The host has asked for a seccomp filter. */
void otelctx_lifecycle_note_filter(void);

#endif
