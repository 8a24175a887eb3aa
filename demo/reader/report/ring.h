/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/maps.h"
#include "demo/reader/os/target.h"
#include "shim/wire/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether there is a ring. The names are in otelctx-read(1), "JSON". */
enum otelread_ring_status {
    OTELREAD_RING_NONE,
    OTELREAD_RING_OK,
    OTELREAD_RING_INVALID,
    OTELREAD_RING_NO_PERMISSION,
    OTELREAD_RING_BUSY, /* its memory does not answer */
    OTELREAD_RING_ERROR,
};

/* More leftovers are counted, and not shown. */
#define OTELREAD_LEFTOVERS_MAX 64

/* A slot with the context of a thread that is no more. */
struct otelread_leftover {
    uint32_t index;
    struct otelctx_ring_slot slot;
};

/* The ring of one process. */
struct otelread_ring {
    enum otelread_ring_status status;
    char message[256];   /* what is wrong, or odd */
    uint64_t start, end; /* the mapping; INVALID, too */
    bool named;          /* found by its name, not by its first bytes */
    struct otelctx_ring_header header;
    struct otelread_leftover leftovers[OTELREAD_LEFTOVERS_MAX];
    size_t leftovers_count;
    bool more_leftovers; /* than there is room for */
};

/*
 * Finds the ring by its name, or by its first bytes among the anonymous
 * mappings whose first page is in memory. Of several valid ones, the first.
 * Rule: 003, "External Discovery Mechanism".
 */
void otelread_ring_find(struct otelread_ring *ring,
                        struct otelread_target *target);

/*
 * Whether a mapping is a ring, good or bad: by its name, or unnamed by its
 * first bytes. *ring describes it then.
 */
bool otelread_ring_take(struct otelread_ring *ring,
                        struct otelread_target *target,
                        const struct otelread_maps_line *line);

/* Bytes between the start of the mapping and a slot. */
uint64_t otelread_ring_offset(uint32_t index);

/* The slot of a thread by its number inside of the process. */
uint32_t otelread_ring_index(const struct otelread_ring *ring, uint32_t tid);

/*
 * Reads a slot until it is the same three times in a row and not being written,
 * as often as is reasonable. Returns 0, 1 (it kept changing) or what
 * otelread_memory_read() returns.
 */
int otelread_ring_read(const struct otelread_ring *ring,
                       struct otelread_target *target, uint32_t index,
                       struct otelctx_ring_slot *slot);

/* "none" and so on; never NULL. */
const char *otelread_ring_status_name(enum otelread_ring_status status);
