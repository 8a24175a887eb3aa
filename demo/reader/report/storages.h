/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/profiled.h"
#include "demo/reader/payload/slot.h"
#include "demo/reader/report/places.h"
#include "demo/reader/report/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

/* What a thread has besides its TLS record. */
struct otelread_storages {
    uint32_t inside; /* the thread's number as the process sees it */
    enum otelread_slot_status ring_status;
    uint32_t ring_index;
    struct otelctx_ring_slot ring;
    enum otelread_profiled_status profiler_status;
    struct otelctx_profiler_context profiler;
    char disagreement[384]; /* what each storage says, or empty */
};

/* A context by the numbers that storages have; all zero: there is none. */
struct otelread_opinion {
    bool counts;      /* else the storage has no say */
    bool short_trace; /* it has only the lower half of a trace id */
    uint64_t trace_high;
    uint64_t trace_low;
    uint64_t span;
};

/* Takes what a snapshot says about ring and profiler. */
void otelread_storages_judge(struct otelread_storages *storages,
                             const struct otelread_snapshot *snapshot,
                             const struct otelread_places *places);

/*
 * Whether the storages of a thread, read at one moment, have different
 * contexts: disagreement says which. A storage that the thread has never
 * written, or whose content does not count, has no say.
 */
bool otelread_storages_disagree(struct otelread_storages *storages,
                                const struct otelread_opinion *tls);

/* Whether ring or profiler have a context of the thread. */
bool otelread_storages_attached(const struct otelread_storages *storages);
