/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_THREAD_RING_H
#define OTELCTX_THREAD_RING_H

/*
 * The ring buffer: see wire/ring.h. A slot belongs to the first thread that
 * asks for it, until that thread ends; only its owner writes to it. Another
 * thread whose id is the same modulo the capacity has no slot meanwhile.
 *
 * A forked child finds the memory zeroed (MADV_WIPEONFORK), which no reader
 * takes for a ring. The first call in the child writes the header again. That
 * call may be one that a signal handler interrupted in the parent to fork.
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
    uint64_t epoch;                 /* in which `id` is right */
    uint32_t id;
    uint32_t occupant; /* the thread that had the slot, and lived */
};

/* NULL: there is none. */
extern struct otelctx_ring_header *otelctx_ring
    __attribute__((visibility("hidden")));

/*
 * Map the ring. Only pages that are touched take memory.
 *
 * Returns 0 or -errno; *failure then names the system call.
 */
int otelctx_ring_open(uint32_t capacity, size_t page_size,
                      struct otelctx_failure *failure);

/* In a forked child, before it calls anything else here. is_quiet: make no
 * system call here, and show nothing. */
void otelctx_ring_begin_child(bool is_quiet);

/* Readers find nothing any more, and no thread gets a slot. The memory stays
 * mapped, because other threads may be writing. */
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
 * The same, without a system call: false also if the thread has no slot yet, or
 * a fork or otelctx_ring_close() has cleared the ring. Then the slot is no
 * longer the thread's, even if the thread was writing to it and has put its id
 * there again.
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

/* The calling thread ends: clear its slot, if it has one, and give it back. */
void otelctx_ring_leave(struct otelctx_ring_thread *self);

/*
 * The ids in the slot of a thread of this process, which may be 0. Never
 * waits.
 *
 * Returns 0, -ESRCH (the thread has no slot) or -EAGAIN (the slot is being
 * written); then *out is unchanged.
 */
int otelctx_ring_get(uint32_t thread, struct otelctx_numbers *out);

#endif
