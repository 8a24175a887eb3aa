/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which storages the threads of this process use for their contexts. slot.c
 * keeps what is attached, with any storage; the storages here show its ids to
 * readers that do not read the slot.
 */

#include "config/options.h"
#include "shim/base/failure.h"
#include "shim/thread/profiler.h"
#include "shim/thread/slot_layout.h"

/* Bits of enum otelctx_thread_storage; 0 before the start and after a close. */
extern unsigned otelctx_storage_bits __attribute__((visibility("hidden")));

/*
 * Turn storages on, once, before any thread attaches a context. A ring that
 * cannot be made is replaced by OTELCTX_STORAGE_PROFILER.
 *
 * Returns 0, or -errno of the ring; *failure then names the system call.
 */
int otelctx_storage_start(unsigned storage, uint32_t ring_capacity,
                          size_t page_size, struct otelctx_failure *failure);

/* Turn all storages off for good: all threads' ring and the calling thread's
 * profiler context. */
void otelctx_storage_stop(void);

/* Turn on the fast paths of api/thread_fast.c, unless the storages are turned
 * off, or another thread turns them off meanwhile. */
void otelctx_storage_cache_tls_offsets(void);

/* After otelctx_storage_stop(), in each thread: clear the context that readers
 * may still see in the thread's own storages. */
void otelctx_storage_show_stopped(void);

/* Is a storage on besides TLS? */
static inline bool otelctx_storage_has_others(void)
{
    return otelctx_storage_bits > OTELCTX_STORAGE_TLS;
}

/* Show the ids in the other storages. Returns false if the ring is one of them,
 * and the thread has not claimed a slot of it. */
OTELCTX_INLINE bool otelctx_storage_show_ids(const struct otelctx_thread *self,
                                             const struct otelctx_numbers *ids)
{
    const unsigned storage = otelctx_storage_bits;

    if (storage & OTELCTX_STORAGE_PROFILER)
        otelctx_profiler_show(ids->span, ids->trace_low);
    return !(storage & OTELCTX_STORAGE_RING) ||
           otelctx_ring_update(&self->ring, ids);
}

/*
 * Show in the other storages what is in the slot. Call after each change of the
 * slot. If a signal handler interrupts this call and changes the slot, the
 * interrupted call shows the new record.
 *
 * Returns false if nobody sees it: the ring is the only storage, and has no
 * slot for this thread.
 */
bool otelctx_storage_show(struct otelctx_thread *self,
                          struct otelctx_record *const *slot);

/* In a forked child: the same for the calling thread, in a ring of the child's
 * own. is_quiet: show nothing, without a system call. */
void otelctx_storage_begin_child(struct otelctx_thread *self,
                                 struct otelctx_record *const *slot,
                                 bool is_quiet);
