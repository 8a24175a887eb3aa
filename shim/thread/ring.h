/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ring buffer: see wire/ring.h. A slot belongs to the first thread that
 * asks for it, until that thread ends; only its owner writes to it. Another
 * thread whose id is the same modulo the capacity has no slot meanwhile.
 *
 * In a forked child the memory is zero (MADV_WIPEONFORK), and no reader takes
 * it for a ring. The first call in the child writes the header again. If a
 * signal handler interrupted a call and forked, that call continues in the
 * child and does so.
 */

#include <stdbool.h>
#include <stddef.h>

#include "shim/base/failure.h"
#include "shim/base/order.h"
#include "shim/wire/ring.h"

/* The ids of one context, as numbers. */
struct otelctx_numbers {
    uint64_t trace_high, trace_low, span;
};

/* A thread and its slot. Zeroes: a thread that never asked for one. */
struct otelctx_ring_thread {
    struct otelctx_ring_slot *slot; /* NULL: none */
    uint64_t epoch;                 /* of ring.c, when `id` was stored */
    uint32_t id;
    uint32_t occupant; /* a live thread that owns the slot instead */
};

/* NULL: this process has no ring. */
extern struct otelctx_ring_header *otelctx_ring
    __attribute__((visibility("hidden")));

/*
 * Map the ring. Only pages that are touched take memory.
 *
 * Returns 0 or -errno; *failure then names the system call.
 */
int otelctx_ring_open(uint32_t capacity, size_t page_size,
                      struct otelctx_failure *failure);

/* Call first in a forked child. is_quiet: make no system call, and show no
 * context. */
void otelctx_ring_begin_child(bool is_quiet);

/* Hide the ring from readers for good. No thread gets a slot any more. The
 * memory stays mapped, because other threads may be writing to it. */
void otelctx_ring_close(void);

/* Show the ids in the thread's slot. Returns false if the thread has no slot.
 * The thread's first call makes system calls; so does one that finds a slot of
 * another thread. */
bool otelctx_ring_show(struct otelctx_ring_thread *self,
                       const struct otelctx_numbers *ids);

/* The lock of a slot while `thread` writes it, from the lock before. */
OTELCTX_INLINE uint64_t otelctx_ring_lock(uint64_t lock, uint32_t thread)
{
    return (uint64_t)thread << 32 | (uint32_t)lock | OTELCTX_RING_SEQUENCE |
           OTELCTX_RING_IN_USE;
}

/* Write to a slot that the calling thread owns. lock: the slot's; next_thread:
 * who owns the slot afterwards. */
OTELCTX_INLINE void otelctx_ring_write(struct otelctx_ring_slot *slot,
                                       uint64_t lock, uint32_t next_thread,
                                       const struct otelctx_numbers *ids)
{
    const uint64_t locked = otelctx_ring_lock(lock, otelctx_ring_thread(lock));
    /* 32 bits: the sequence number wraps around. */
    const uint32_t unlocked =
        (uint32_t)(locked + OTELCTX_RING_SEQUENCE - OTELCTX_RING_IN_USE);

    otelctx_store(&slot->lock, locked);
    otelctx_fence_release();
    otelctx_store(&slot->trace_id_high, ids->trace_high);
    otelctx_store(&slot->trace_id_low, ids->trace_low);
    otelctx_store(&slot->span_id, ids->span);
    otelctx_store_release(&slot->lock, (uint64_t)next_thread << 32 | unlocked);
}

/*
 * As otelctx_ring_show(), but without a system call. Returns false also if the
 * thread has not claimed a slot yet, or if a fork or otelctx_ring_close() has
 * cleared the ring: then the thread has lost its slot, even if it was writing
 * to the slot at that moment and stored its id there again.
 */
OTELCTX_INLINE bool otelctx_ring_update(const struct otelctx_ring_thread *self,
                                        const struct otelctx_numbers *ids)
{
    struct otelctx_ring_slot *const slot = self->slot;
    const uint64_t lock = slot ? otelctx_load(&slot->lock) : 0;

    if (!slot || otelctx_load_32(&otelctx_ring->magic) == 0 ||
        otelctx_ring_thread(lock) != self->id)
        return false;
    otelctx_ring_write(slot, lock, self->id, ids);
    return true;
}

/* In each round of the destructors at the end of the calling thread, from 1:
 * clear and release its slot, if it has one. */
void otelctx_ring_leave(struct otelctx_ring_thread *self, uintptr_t round);

/*
 * The ids in the slot of a thread of this process, which may be 0. Never
 * waits.
 *
 * Returns 0, -ESRCH (the thread has no slot) or -EAGAIN (the slot is being
 * written); then *out is unchanged.
 */
int otelctx_ring_get(uint32_t thread, struct otelctx_numbers *out);
