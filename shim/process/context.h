/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The process context of this process. versions.h has the attributes, key_map.h
 * the keys, publication.h the mapping, and rival.h finds out whether another
 * publisher's context counts instead.
 *
 * The caller holds the lock (state.h), except for the last two functions.
 */

#include "shim/base/order.h"
#include "shim/process/payload.h"

/*
 * Stage the version that is being edited (versions.h), after adding the
 * attributes that every process has (identity.h).
 *
 * Returns 0 or -ENOSPC (no room for the service.name); then nothing has
 * changed.
 */
int otelctx_context_stage(void);

/*
 * Publish what is staged.
 *
 * Returns 0, -ESTALE (another publisher's context counts; what is staged is
 * published when that one is gone) or the error of a system call, which
 * otelctx_state_failure() names; then what was published stays.
 */
int otelctx_context_publish(void);

void otelctx_context_drop(void);

/* The size of what is staged, with the keys, in bytes. */
size_t otelctx_context_size(void);

/* Call before anything is published. Returns 0 or -ENOSPC: see key_map.h. */
int otelctx_context_set_schema(struct otelctx_span schema);
/* Leave out everything about threads. Call before anything is published. */
void otelctx_context_hide_threads(void);

/*
 * The index of a thread attribute's key. A new one is appended, and published
 * with what is published already, if anything is.
 *
 * Returns the index, or -errno as otelctx_key_map_add() or
 * otelctx_context_publish(); then the key is not added, and what was published
 * stays. Rule: OTEP 4947,
 * "attribute_key_map dictionary semantics".
 */
int otelctx_context_key(struct otelctx_span name);

/* Remove all keys. Call before anything is published. */
void otelctx_context_forget_keys(void);

/* Does this process publish a context, unless another publisher's counts? A
 * forked child inherits the answer. */
bool otelctx_context_is_shown(void);

/*
 * Yield to another publisher's context at `to`: withdraw what is published, or
 * forget the mapping if `to` is in it.
 */
void otelctx_context_yield(const void *to);

/* The context that this process has yielded to, or NULL. */
const void *otelctx_context_rival(void);

/* After the other publisher's context has gone: publish again. */
void otelctx_context_return(void);

/* Readers no longer find the mapping: publish in a new one. */
void otelctx_context_renew_mapping(void);

/* Publish, if the context is to be shown and has no mapping. */
void otelctx_context_catch_up(void);

/* Publish the same again, if the context has a mapping. */
void otelctx_context_update(void);

/* In a child, which has no mapping: publish nothing from now on. */
void otelctx_context_hide(void);

/* What follows may be called at any time, without the lock. */

bool otelctx_context_has_yielded(void);

/* The number of keys in the published map. */
extern uint64_t otelctx_context_key_count __attribute__((visibility("hidden")));

/* Has otelctx_context_key() returned this index? */
static inline bool otelctx_context_has_key(uint32_t index)
{
    return index < otelctx_load_acquire(&otelctx_context_key_count);
}
