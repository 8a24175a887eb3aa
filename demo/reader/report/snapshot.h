/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"
#include "demo/reader/payload/record.h"
#include "demo/reader/report/places.h"
#include "shim/wire/profiler.h"
#include "shim/wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

/* One pass over what a thread has. What was not read is zero. */
struct otelread_snapshot {
    int slot_error; /* of the variable that holds the record's address */
    int head_error;
    struct otelread_record record;
    int profiler_error;
    struct otelctx_profiler_context profiler;
    int ring_error; /* as otelread_ring_read() */
    struct otelctx_ring_slot ring;
};

/*
 * By the thread pointer, and, for the ring, by the thread's number inside of
 * the process.
 * Rule: OTEP 4947, "Thread Sampling": the pointer, 28 bytes, the attributes.
 */
void otelread_snapshot_take(struct otelread_snapshot *snapshot,
                            struct otelread_target *target,
                            const struct otelread_places *places,
                            uint64_t pointer, uint32_t inside);

/* Only the profiler's variable. */
void otelread_snapshot_take_profiler(struct otelread_snapshot *snapshot,
                                     struct otelread_target *target,
                                     const struct otelread_symbol *symbol,
                                     uint64_t pointer);

bool otelread_snapshot_is_same(const struct otelread_snapshot *a,
                               const struct otelread_snapshot *b);
