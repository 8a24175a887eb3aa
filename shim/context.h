/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_CONTEXT_H
#define OTELCTX_CONTEXT_H

/*
 * The process context of this process: what is staged, what is published, and
 * the one lock over both.
 *
 * All that must not outlive a fork (lock, mapping, timestamp) is in memory that
 * the kernel wipes in a child; attributes and keys outlive it. The attributes
 * are kept in three versions, the published one, the staged one and the one
 * being edited, which change places by one store: so a child that was forked in
 * the middle of anything finds versions that are whole.
 *
 * What forks and other publishers have to do with it is lifecycle.h's.
 */

#include "shim/order.h"
#include "shim/payload.h"

/*
 * Take the lock.
 *
 * Returns 0 or -EBUSY: a signal handler interrupted the owner, or that one does
 * not give it back.
 */
int otelctx_context_enter(void);
void otelctx_context_leave(void);

/* All from here on: only between enter and leave. */

/* CLOCK_BOOTTIME in nanoseconds, read once for all that one call does. */
uint64_t otelctx_context_now(void);

/* A copy of what is staged, to be changed; forgotten unless staged. */
struct otelctx_payload *otelctx_context_edit(void);

/*
 * Stage the copy. There is always a service.name: without one the copy gets
 * "unknown_service:" and the name of the executable. Without a
 * service.instance.id it gets the one that was made, see instance.h, if there
 * is room for it.
 *
 * Returns 0 or -ENOSPC (no room for the name); then nothing has changed.
 * Rule: OpenTelemetry semantic conventions, "Service".
 */
int otelctx_context_stage(void);

const struct otelctx_payload *otelctx_context_staged(void);

/* Memory that nothing else uses, of `size` bytes, at most OTELCTX_PAYLOAD_MAX.
 */
char *otelctx_context_scratch(size_t size);

/*
 * Publish what is staged.
 *
 * Returns 0, -ESTALE (another publisher has come) or what a system call said;
 * then what was published stays.
 */
int otelctx_context_publish(void);

/* Which system call that was. */
const char *otelctx_context_failed(void);

void otelctx_context_drop(void);

/* The size of what is staged, with the keys, in bytes. */
size_t otelctx_context_size(void);

/* Before anything is published. Returns 0 or -ENOSPC: see keys.h. */
int otelctx_context_set_schema(struct otelctx_span schema);
/* Or say nothing of threads. */
void otelctx_context_hide_threads(void);

/*
 * The index of a thread attribute's key. A new one is appended, and published
 * with what is published already, if anything is.
 *
 * Returns the index, or -errno as otelctx_keys_add() or as above; then the key
 * is not there, and what was published stays. Rule: OTEP 4947,
 * "attribute_key_map dictionary semantics".
 */
int otelctx_context_key(struct otelctx_span name);

/* Before anything is published: begin again without keys. */
void otelctx_context_forget_keys(void);

/* Is something published, or, in a child, was when it was forked? */
bool otelctx_context_is_shown(void);

/*
 * Leave the field to another publisher, for good: withdraw what is published,
 * but let go of what is at `taken`.
 */
void otelctx_context_yield(const void *taken);

/* What a forked child is to do with what its parent had published. */
enum otelctx_child {
    OTELCTX_CHILD_PUBLISHES,
    OTELCTX_CHILD_DROPS,
    OTELCTX_CHILD_MUST_BE_QUIET, /* drops, without a system call */
};

/* The first thing in a forked child. */
void otelctx_context_begin_child(enum otelctx_child what);

/* Publish what is to be, and is not yet. */
void otelctx_context_catch_up(void);

/*
 * The first thing in a child that has copies of everything, because it was
 * forked in the middle of a call, which it will resume; and what is to be done
 * when that call is over.
 */
void otelctx_context_resume_in_child(enum otelctx_child what);
void otelctx_context_end_resumed(void);

/* From here on: at any time, without the lock. */

bool otelctx_context_has_yielded(void);

/* That readers can know of. */
extern uint64_t otelctx_context_key_count __attribute__((visibility("hidden")));

/* Is it one that otelctx_context_key() has returned? */
static inline bool otelctx_context_has_key(uint32_t index)
{
    return index < otelctx_load_acquire(&otelctx_context_key_count);
}

#endif
