/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/ring.h"

#include <errno.h>

#include "shim/base/host.h"
#include "shim/base/order.h"
#include "shim/base/sys.h"

struct otelctx_ring_header *otelctx_ring;
static uint32_t capacity;
static size_t ring_size;   /* bytes, whole pages */
static uint64_t is_closed; /* threads show nothing any more */
static uint64_t epoch;     /* one more in each forked child */

/* Rounds of destructors of thread-specific data: both libcs' value of
 * PTHREAD_DESTRUCTOR_ITERATIONS. */
enum {
    FIRST_ROUND = 1,
    LAST_ROUND = 4
};

static struct otelctx_ring_slot *slot_of(uint32_t thread)
{
    return (struct otelctx_ring_slot *)(otelctx_ring + 1) + thread % capacity;
}

/* Write the magic last, because readers recognise the ring by it. Write all
 * again if a signal handler forked in between: in its child the kernel has
 * wiped the first fields. */
static void write_header(void)
{
    do {
        otelctx_store_release_32(&otelctx_ring->version, OTELCTX_RING_VERSION);
        otelctx_ring->capacity = capacity;
        otelctx_ring->slot_size = sizeof(struct otelctx_ring_slot);
        otelctx_store_release_32(&otelctx_ring->magic, OTELCTX_RING_MAGIC);
    } while (otelctx_load_32(&otelctx_ring->version) != OTELCTX_RING_VERSION);
}

/* A mapping of its own between two pages that cannot be accessed: the kernel
 * would join it with a neighbour of equal flags, and readers look for the
 * header at the start of a mapping. */
int otelctx_ring_open(uint32_t slots, size_t page_size,
                      struct otelctx_failure *failure)
{
    const size_t size =
        (sizeof(struct otelctx_ring_header) +
         slots * sizeof(struct otelctx_ring_slot) + page_size - 1) &
        ~(page_size - 1);
    void *all, *at;
    int err = otelctx_sys_map_reserved(size + 2 * page_size, &all);

    if (err)
        return otelctx_fail(failure, "mmap", err);
    at = (char *)all + page_size;
    err = otelctx_sys_protect(at, size, true);
    if (err) {
        (void)otelctx_sys_unmap(all, size + 2 * page_size);
        return otelctx_fail(failure, "mprotect", err);
    }
    (void)otelctx_sys_no_huge_pages(at, size);
    (void)otelctx_sys_wipe_on_fork(at, size);
    otelctx_ring = at;
    capacity = slots;
    ring_size = size;
    epoch = 1;
    write_header();
    (void)otelctx_sys_name(otelctx_ring, size, OTELCTX_RING_NAME);
    return 0;
}

void otelctx_ring_begin_child(bool is_quiet)
{
    if (is_quiet)
        otelctx_store(&is_closed, true);
    if (otelctx_load_32(&otelctx_ring->magic) == 0)
        return;
    if (!is_quiet) /* Linux before 4.14, and emulators, wipe nothing */
        (void)otelctx_sys_discard(otelctx_ring, ring_size);
    otelctx_store_release_32(&otelctx_ring->magic, 0);
}

void otelctx_ring_close(void)
{
    otelctx_store(&is_closed, true);
    (void)otelctx_sys_discard(otelctx_ring, ring_size); /* refused if locked */
    otelctx_store_release_32(&otelctx_ring->magic, 0);
}

/* In a forked child, at its first call. Another thread may be closing the ring
 * at the same time: if its MADV_DONTNEED came before the header, clear the
 * magic again. */
static void begin_epoch(void)
{
    otelctx_store(&epoch, otelctx_load(&epoch) + 1);
    write_header();
    otelctx_fence();
    if (otelctx_load(&is_closed))
        otelctx_store_release_32(&otelctx_ring->magic, 0);
}

/* Renew the per-thread state, which a forked child must not inherit. */
static void renew_thread(struct otelctx_ring_thread *self)
{
    if (otelctx_load_32(&otelctx_ring->magic) == 0)
        begin_epoch();
    if (self->epoch == otelctx_load(&epoch))
        return;
    self->epoch = otelctx_load(&epoch);
    self->id = (uint32_t)otelctx_sys_thread();
    self->occupant = 0;
    otelctx_host_at_thread_exit(FIRST_ROUND);
}

/* May the thread take the slot from its owner? It may if that thread has ended:
 * one that does not end as POSIX threads do keeps its slot. Makes one system
 * call for each owner. */
static bool is_slot_free(struct otelctx_ring_thread *self, uint32_t owner)
{
    if (owner == 0 || owner == self->id)
        return true;
    if (owner == self->occupant || otelctx_sys_has_thread((int)owner)) {
        self->occupant = owner;
        return false;
    }
    return true;
}

/* Take the slot if it is free. The thread then owns the slot, which is marked
 * as being written. */
static bool claim(struct otelctx_ring_thread *self)
{
    struct otelctx_ring_slot *slot;
    uint64_t lock;

    self->slot = NULL;
    if (otelctx_load(&is_closed))
        return false;
    renew_thread(self);
    if (self->id == 0)
        return false;
    slot = slot_of(self->id);
    lock = otelctx_load(&slot->lock);
    if (!is_slot_free(self, otelctx_ring_thread(lock)) ||
        !otelctx_compare_exchange(&slot->lock, &lock,
                                  otelctx_ring_lock(lock, self->id)))
        return false;
    self->slot = slot;
    return true;
}

bool otelctx_ring_show(struct otelctx_ring_thread *self,
                       const struct otelctx_numbers *ids)
{
    return otelctx_ring_update(self, ids) ||
           (claim(self) && otelctx_ring_update(self, ids));
}

/* Destructors that come later may attach a context again, in this round or the
 * next one. After the last round nobody would clear the slot. */
void otelctx_ring_leave(struct otelctx_ring_thread *self, uintptr_t round)
{
    static const struct otelctx_numbers none;
    struct otelctx_ring_slot *const slot = self->slot;
    const uint64_t lock = slot ? otelctx_load(&slot->lock) : 0;

    if (slot && otelctx_ring_thread(lock) == self->id)
        otelctx_ring_write(slot, lock, 0, &none);
    self->slot = NULL;
    if (round < LAST_ROUND)
        otelctx_host_at_thread_exit(round + 1);
    else
        self->id = 0;
}

int otelctx_ring_get(uint32_t thread, struct otelctx_numbers *out)
{
    const struct otelctx_ring_slot *const slot = slot_of(thread);
    const uint64_t before = otelctx_load_acquire(&slot->lock);
    const struct otelctx_numbers ids = {otelctx_load(&slot->trace_id_high),
                                        otelctx_load(&slot->trace_id_low),
                                        otelctx_load(&slot->span_id)};

    otelctx_fence_acquire();
    if (otelctx_ring_thread(before) != thread || thread == 0)
        return -ESRCH;
    if ((before & OTELCTX_RING_IN_USE) || otelctx_load(&slot->lock) != before)
        return -EAGAIN;
    *out = ids;
    return 0;
}
