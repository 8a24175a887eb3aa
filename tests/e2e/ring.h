/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A reader of the ring buffer, from outside and without stopping anybody: see
 * RING in otelctx(5).
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shim/wire/ring.h"
#include "tests/e2e/step_peek.h"

struct ring {
    uint64_t at; /* 0: none */
    struct otelctx_ring_header header;
};

static inline bool ring_is_header(const struct otelctx_ring_header *header)
{
    return header->magic == OTELCTX_RING_MAGIC &&
           header->version == OTELCTX_RING_VERSION && header->capacity > 0 &&
           header->slot_size == sizeof(struct otelctx_ring_slot);
}

/* The rings of a process: how many there are, and the first one. */
static inline unsigned ring_find(pid_t pid, struct ring *out)
{
    char path[32], line[512];
    unsigned count = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "r");
    cr_assert(maps, "no process %d", (int)pid);
    while (fgets(line, sizeof(line), maps)) {
        struct ring ring = {0};
        char flags[8];
        unsigned long inode;

        if (sscanf(line, "%" SCNx64 "-%*s %7s %*s %*s %lu", &ring.at, flags,
                   &inode) != 3 ||
            strcmp(flags, "rw-p") != 0 || inode != 0 ||
            !peek(pid, ring.at, &ring.header, sizeof(ring.header)) ||
            !ring_is_header(&ring.header))
            continue;
        if (count++ == 0)
            *out = ring;
    }
    (void)fclose(maps);
    return count;
}

static inline uint64_t ring_slot_of(const struct ring *ring, pid_t thread)
{
    return ring->at + sizeof(ring->header) +
           (uint32_t)thread % ring->header.capacity *
               sizeof(struct otelctx_ring_slot);
}

enum ring_seen {
    RING_BUSY,      /* the slot was written meanwhile */
    RING_NO_SLOT,   /* no thread has it */
    RING_COLLISION, /* another thread has it */
    RING_IDS
};

/* A second look shows whether the first one was at one write. */
static inline enum ring_seen ring_see(pid_t pid, const struct ring *ring,
                                      pid_t thread,
                                      struct otelctx_ring_slot *out)
{
    const uint64_t at = ring_slot_of(ring, thread);
    struct otelctx_ring_slot first;
    uint32_t owner;

    STEP_ASSERT(peek(pid, at, &first, sizeof(first)) &&
                    peek(pid, at, out, sizeof(*out)),
                "no slot");
    if (memcmp(&first, out, sizeof(first)) != 0 ||
        out->lock & OTELCTX_RING_IN_USE)
        return RING_BUSY;
    owner = otelctx_ring_thread(out->lock);
    if (owner == 0)
        return RING_NO_SLOT;
    return owner == (uint32_t)thread ? RING_IDS : RING_COLLISION;
}

/* Ids of which each byte is the same number. Returns that, or -1. */
static inline int ring_number(const struct otelctx_ring_slot *slot)
{
    const uint64_t byte = slot->span_id & 0xff;
    const uint64_t id = byte * UINT64_C(0x0101010101010101);

    return slot->trace_id_high == id && slot->trace_id_low == id &&
                   slot->span_id == id
               ? (int)byte
               : -1;
}
