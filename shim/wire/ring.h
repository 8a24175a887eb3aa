/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The ring buffer of thread contexts, found by its name or its first bytes, and
 * read by thread id: no TLS, no ptrace.
 * Source: "OTEL-Compatible Context Storage Architecture", "OTEL Ring Buffer
 * Design"; that text leaves the last seven bytes of a slot free.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define OTELCTX_RING_NAME "DD_OTEL_CTX"

enum {
    OTELCTX_RING_MAGIC = 0x4F54454C, /* the last field that is written */
    OTELCTX_RING_VERSION = 1,
    OTELCTX_RING_CAPACITY = 65536, /* by default */
    OTELCTX_RING_CAPACITY_MAX = 1 << 22
};

/* At the start of the mapping. Host byte order. */
struct otelctx_ring_header {
    uint32_t magic;
    uint32_t version;
    uint32_t capacity;  /* slots */
    uint32_t slot_size; /* bytes */
    uint8_t reserved[16];
};
static_assert(sizeof(struct otelctx_ring_header) == 32, "padding");

/*
 * The slot of the thread whose id is this one modulo the capacity. The ids are
 * numbers: the trace id 4bf92f3577b34da6a3ce929d0e0e4736 has the upper half
 * 0x4bf92f3577b34da6. All of them 0: no context.
 *
 * `lock` has, from its lowest bit on:
 *   0x18   8 bits: in_use, 1 while the slot is written
 *   0x19  24 bits: sequence number, odd while the slot is written (ours)
 *   0x1c  32 bits: id of the thread whose context this is, as the process sees
 *         it; 0 if no thread owns the slot (ours)
 * The writer stores it before the ids, and again after them.
 */
struct otelctx_ring_slot {
    uint64_t trace_id_high;
    uint64_t trace_id_low;
    uint64_t span_id;
    uint64_t lock;
};
static_assert(sizeof(struct otelctx_ring_slot) == 32, "padding");
static_assert(offsetof(struct otelctx_ring_slot, lock) == 0x18, "");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "in_use is at 0x18");

#define OTELCTX_RING_IN_USE   UINT64_C(1)
#define OTELCTX_RING_SEQUENCE UINT64_C(0x100) /* one step */

static inline uint32_t otelctx_ring_sequence(uint64_t lock)
{
    return (uint32_t)(lock >> 8) & 0xffffff;
}

static inline uint32_t otelctx_ring_thread(uint64_t lock)
{
    return (uint32_t)(lock >> 32);
}
