/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_storages.h"

#include <inttypes.h>

static void slot_print(struct otelbase_json *json,
                       const struct otelctx_ring_slot *slot)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (owner != 0) {
        otelbase_json_key(json, "owner");
        otelbase_json_literal(json, "%u", owner);
    }
    otelbase_json_key(json, "trace_id");
    otelbase_json_quoted(json, "%016" PRIx64 "%016" PRIx64, slot->trace_id_high,
                         slot->trace_id_low);
    otelbase_json_key(json, "span_id");
    otelbase_json_quoted(json, "%016" PRIx64, slot->span_id);
}

static void leftovers_print(struct otelbase_json *json,
                            const struct otelread_ring *ring)
{
    otelbase_json_key(json, "ended");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < ring->leftovers_count; i++) {
        otelbase_json_open(json, '{');
        otelbase_json_key(json, "slot");
        otelbase_json_literal(json, "%u", ring->leftovers[i].index);
        slot_print(json, &ring->leftovers[i].slot);
        otelbase_json_close(json, '}');
    }
    otelbase_json_close(json, ']');
}

void otelread_json_ring_print(struct otelbase_json *json,
                              const struct otelread_ring *ring)
{
    if (ring->status == OTELREAD_RING_NONE)
        return;
    otelbase_json_key(json, "ring");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_ring_status_name(ring->status));
    if (ring->message[0] != '\0') {
        otelbase_json_key(json, "message");
        otelbase_json_text(json, ring->message);
    }
    otelbase_json_key(json, "start");
    otelbase_json_quoted(json, "0x%" PRIx64, ring->start);
    otelbase_json_key(json, "end");
    otelbase_json_quoted(json, "0x%" PRIx64, ring->end);
    otelbase_json_key(json, "named");
    otelbase_json_literal(json, ring->named ? "true" : "false");
    otelbase_json_key(json, "capacity");
    otelbase_json_literal(json, "%u", ring->header.capacity);
    leftovers_print(json, ring);
    otelbase_json_close(json, '}');
}

static void ring_print(struct otelbase_json *json,
                       const struct otelread_storages *storages)
{
    const enum otelread_slot_status status = storages->ring_status;

    otelbase_json_key(json, "ring");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_slot_status_name(status));
    otelbase_json_key(json, "slot");
    otelbase_json_literal(json, "%u", storages->ring_index);
    if (status == OTELREAD_SLOT_ATTACHED || status == OTELREAD_SLOT_COLLISION ||
        status == OTELREAD_SLOT_STALE)
        slot_print(json, &storages->ring);
    otelbase_json_close(json, '}');
}

static void profiler_print(struct otelbase_json *json,
                           const struct otelread_storages *storages)
{
    const struct otelctx_profiler_context *const context = &storages->profiler;

    otelbase_json_key(json, "profiler");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(
        json, otelread_profiled_status_name(storages->profiler_status));
    if (storages->profiler_status == OTELREAD_PROFILED_ATTACHED) {
        otelbase_json_key(json, "root_span_id");
        otelbase_json_quoted(json, "%016" PRIx64, context->root_span_id);
        otelbase_json_key(json, "span_id");
        otelbase_json_quoted(json, "%016" PRIx64, context->span_id);
        otelbase_json_key(json, "tags");
        otelbase_json_open(json, '[');
        for (size_t i = 0; i < OTELCTX_PROFILER_TAGS; i++)
            otelbase_json_literal(json, "%u", context->tags[i]);
        otelbase_json_close(json, ']');
    }
    otelbase_json_close(json, '}');
}

void otelread_json_storages_print(struct otelbase_json *json,
                                  const struct otelread_storages *storages)
{
    if (storages->ring_status != OTELREAD_SLOT_NONE)
        ring_print(json, storages);
    if (storages->profiler_status != OTELREAD_PROFILED_NONE)
        profiler_print(json, storages);
    if (storages->disagreement[0] != '\0') {
        otelbase_json_key(json, "disagreement");
        otelbase_json_text(json, storages->disagreement);
    }
}
