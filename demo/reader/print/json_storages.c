/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_storages.h"

#include <inttypes.h>

static void slot_print(struct otelread_json *json,
                       const struct otelctx_ring_slot *slot)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (owner != 0) {
        otelread_json_key(json, "owner");
        otelread_json_literal(json, "%u", owner);
    }
    otelread_json_key(json, "trace_id");
    otelread_json_quoted(json, "%016" PRIx64 "%016" PRIx64, slot->trace_id_high,
                         slot->trace_id_low);
    otelread_json_key(json, "span_id");
    otelread_json_quoted(json, "%016" PRIx64, slot->span_id);
}

static void leftovers_print(struct otelread_json *json,
                            const struct otelread_ring *ring)
{
    otelread_json_key(json, "ended");
    otelread_json_open(json, '[');
    for (size_t i = 0; i < ring->leftovers_count; i++) {
        otelread_json_open(json, '{');
        otelread_json_key(json, "slot");
        otelread_json_literal(json, "%u", ring->leftovers[i].index);
        slot_print(json, &ring->leftovers[i].slot);
        otelread_json_close(json, '}');
    }
    otelread_json_close(json, ']');
}

void otelread_json_ring_print(struct otelread_json *json,
                              const struct otelread_ring *ring)
{
    if (ring->status == OTELREAD_RING_NONE)
        return;
    otelread_json_key(json, "ring");
    otelread_json_open(json, '{');
    otelread_json_key(json, "status");
    otelread_json_text(json, otelread_ring_status_name(ring->status));
    if (ring->message[0] != '\0') {
        otelread_json_key(json, "message");
        otelread_json_text(json, ring->message);
    }
    otelread_json_key(json, "start");
    otelread_json_quoted(json, "0x%" PRIx64, ring->start);
    otelread_json_key(json, "end");
    otelread_json_quoted(json, "0x%" PRIx64, ring->end);
    otelread_json_key(json, "named");
    otelread_json_literal(json, ring->named ? "true" : "false");
    otelread_json_key(json, "capacity");
    otelread_json_literal(json, "%u", ring->header.capacity);
    leftovers_print(json, ring);
    otelread_json_close(json, '}');
}

static void ring_print(struct otelread_json *json,
                       const struct otelread_storages *storages)
{
    const enum otelread_slot_status status = storages->ring_status;

    otelread_json_key(json, "ring");
    otelread_json_open(json, '{');
    otelread_json_key(json, "status");
    otelread_json_text(json, otelread_slot_status_name(status));
    otelread_json_key(json, "slot");
    otelread_json_literal(json, "%u", storages->ring_index);
    if (status == OTELREAD_SLOT_ATTACHED || status == OTELREAD_SLOT_COLLISION ||
        status == OTELREAD_SLOT_STALE)
        slot_print(json, &storages->ring);
    otelread_json_close(json, '}');
}

static void profiler_print(struct otelread_json *json,
                           const struct otelread_storages *storages)
{
    const struct otelctx_profiler_context *const context = &storages->profiler;

    otelread_json_key(json, "profiler");
    otelread_json_open(json, '{');
    otelread_json_key(json, "status");
    otelread_json_text(
        json, otelread_profiled_status_name(storages->profiler_status));
    if (storages->profiler_status == OTELREAD_PROFILED_ATTACHED) {
        otelread_json_key(json, "root_span_id");
        otelread_json_quoted(json, "%016" PRIx64, context->root_span_id);
        otelread_json_key(json, "span_id");
        otelread_json_quoted(json, "%016" PRIx64, context->span_id);
        otelread_json_key(json, "tags");
        otelread_json_open(json, '[');
        for (size_t i = 0; i < OTELCTX_PROFILER_TAGS; i++)
            otelread_json_literal(json, "%u", context->tags[i]);
        otelread_json_close(json, ']');
    }
    otelread_json_close(json, '}');
}

void otelread_json_storages_print(struct otelread_json *json,
                                  const struct otelread_storages *storages)
{
    if (storages->ring_status != OTELREAD_SLOT_NONE)
        ring_print(json, storages);
    if (storages->profiler_status != OTELREAD_PROFILED_NONE)
        profiler_print(json, storages);
    if (storages->disagreement[0] != '\0') {
        otelread_json_key(json, "disagreement");
        otelread_json_text(json, storages->disagreement);
    }
}
