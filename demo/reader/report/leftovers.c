/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/leftovers.h"

#include "demo/reader/os/memory.h"
#include "demo/reader/os/task_status.h"
#include "demo/reader/payload/slot.h"

#include <stdlib.h>
#include <string.h>

/* No page is smaller, and no slot lies in two of them. */
#define PAGE_SIZE ((uint64_t)4096)

#define SLOT_SIZE sizeof(struct otelctx_ring_slot)

/* The numbers of the live threads, as the process sees them. */
struct live {
    uint32_t *tids;
    size_t count;
};

/* A slot that does not name its thread may be that of any with its index. */
static bool is_live(const struct live *live, const struct otelread_ring *ring,
                    const struct otelread_leftover *leftover)
{
    const uint32_t owner = otelctx_ring_thread(leftover->slot.lock);

    for (size_t i = 0; i < live->count; i++) {
        if (owner != 0
                ? live->tids[i] == owner
                : otelread_ring_index(ring, live->tids[i]) == leftover->index)
            return true;
    }
    return false;
}

static void add(struct otelread_ring *ring,
                const struct otelread_leftover *leftover)
{
    if (ring->leftovers_count < OTELREAD_LEFTOVERS_MAX)
        ring->leftovers[ring->leftovers_count++] = *leftover;
    else
        ring->more_leftovers = true;
}

/* The slots of one page, from the first byte that is one's. */
static void scan_page(struct otelread_ring *ring,
                      struct otelread_target *target, uint64_t at,
                      const struct live *live)
{
    struct otelctx_ring_slot slots[PAGE_SIZE / SLOT_SIZE];
    const uint64_t end = otelread_ring_offset(ring->header.capacity);
    const uint64_t room = PAGE_SIZE - at % PAGE_SIZE;
    const size_t size = (size_t)(end - at < room ? end - at : room);
    struct otelread_leftover leftover = {
        .index = (uint32_t)((at - otelread_ring_offset(0)) / SLOT_SIZE)};

    if (otelread_memory_read(target, ring->start + at, slots, size) != 0)
        return;
    for (size_t i = 0; i < size / SLOT_SIZE; i++, leftover.index++) {
        leftover.slot = slots[i];
        if (otelread_slot_has_ids(&slots[i]) &&
            otelread_slot_is_still(&slots[i]) &&
            !is_live(live, ring, &leftover))
            add(ring, &leftover);
    }
}

static void scan(struct otelread_ring *ring, struct otelread_target *target,
                 const struct live *live)
{
    const uint64_t end = otelread_ring_offset(ring->header.capacity);

    target->only_resident = true;
    for (uint64_t at = otelread_ring_offset(0); at < end;
         at += PAGE_SIZE - at % PAGE_SIZE)
        scan_page(ring, target, at, live);
    target->only_resident = false;
}

/* Without those of threads that began, or ended and cleared it, meanwhile. */
static void confirm(struct otelread_ring *ring, struct otelread_target *target,
                    const struct live *live)
{
    struct otelctx_ring_slot slot;
    size_t kept = 0;

    for (size_t i = 0; i < ring->leftovers_count; i++) {
        const struct otelread_leftover *const leftover = &ring->leftovers[i];

        if (!is_live(live, ring, leftover) &&
            otelread_ring_read(ring, target, leftover->index, &slot) == 0 &&
            memcmp(&slot, &leftover->slot, sizeof(slot)) == 0)
            ring->leftovers[kept++] = *leftover;
    }
    ring->leftovers_count = kept;
}

static void mark(struct otelread_sample *sample,
                 const struct otelread_ring *ring, const struct live *live)
{
    for (size_t i = 0; i < sample->count; i++) {
        struct otelread_storages *const storages = &sample->threads[i].storages;
        const struct otelread_leftover leftover = {
            .index = storages->ring_index, .slot = storages->ring};

        if (storages->ring_status == OTELREAD_SLOT_COLLISION &&
            !is_live(live, ring, &leftover))
            storages->ring_status = OTELREAD_SLOT_STALE;
    }
}

int otelread_leftovers_find(struct otelread_ring *ring,
                            struct otelread_target *target,
                            struct otelread_sample *sample)
{
    struct live live;
    int error = otelread_tasks_inside(target->pid, &live.tids, &live.count);

    if (error != 0)
        return error;
    mark(sample, ring, &live);
    scan(ring, target, &live);
    free(live.tids);
    if (ring->leftovers_count == 0)
        return 0;
    error = otelread_tasks_inside(target->pid, &live.tids, &live.count);
    if (error == 0)
        confirm(ring, target, &live);
    else
        ring->leftovers_count = 0;
    free(live.tids);
    return error;
}
