/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_CONTEXT_H
#define OTELCTX_PROCESS_CONTEXT_H

/*
 * The process context of this process: what is published of the attributes
 * (versions.h) and of the keys (key_map.h), where (publication.h), and whether
 * another publisher's context counts instead (rival.h).
 *
 * The caller holds the lock (state.h), but for the last two functions.
 */

#include "shim/base/order.h"
#include "shim/process/payload.h"

/*
 * Stage the version that is being edited, see versions.h, with the attributes
 * that every process has, see identity.h.
 *
 * Returns 0 or -ENOSPC (no room for the service.name); then nothing has
 * changed.
 */
int otelctx_context_stage(void);

/*
 * Publish what is staged.
 *
 * Returns 0, -ESTALE (another publisher's context counts; what is staged is
 * published when that one is gone) or what a system call said, see
 * otelctx_state_failure(); then what was published stays.
 */
int otelctx_context_publish(void);

void otelctx_context_drop(void);

/* The size of what is staged, with the keys, in bytes. */
size_t otelctx_context_size(void);

/* Before anything is published. Returns 0 or -ENOSPC: see key_map.h. */
int otelctx_context_set_schema(struct otelctx_span schema);
/* Or say nothing of threads. */
void otelctx_context_hide_threads(void);

/*
 * The index of a thread attribute's key. A new one is appended, and published
 * with what is published already, if anything is.
 *
 * Returns the index, or -errno as otelctx_key_map_add() or as above; then the
 * key is not there, and what was published stays. Rule: OTEP 4947,
 * "attribute_key_map dictionary semantics".
 */
int otelctx_context_key(struct otelctx_span name);

/* Before anything is published: begin again without keys. */
void otelctx_context_forget_keys(void);

/* Is something published, or, in a child, was when it was forked? */
bool otelctx_context_is_shown(void);

/*
 * Leave the field to another publisher, whose context is at `to`: withdraw what
 * is published; or let go of it, if that is the one.
 */
void otelctx_context_yield(const void *to);

/* To whom, or NULL. */
const void *otelctx_context_rival(void);

/* That one is gone: publish again what was to be published. */
void otelctx_context_return(void);

/* Readers no longer find the mapping: publish in another one. */
void otelctx_context_renew_mapping(void);

/* Publish what is to be, and is not yet. */
void otelctx_context_catch_up(void);

/* Publish once more what is published, if it is. */
void otelctx_context_update(void);

/* From here on nothing is to be shown; for a child, which has no mapping. */
void otelctx_context_hide(void);

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
