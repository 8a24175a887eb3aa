/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/text_storages.h"

#include <inttypes.h>

void otelread_text_ring_print(FILE *out, const struct otelread_ring *ring)
{
    if (ring->status == OTELREAD_RING_NONE)
        return;
    (void)fprintf(out, "  ring       %" PRIx64 "-%" PRIx64 "%s, ", ring->start,
                  ring->end,
                  ring->named ? " [anon:" OTELCTX_RING_NAME "]" : "");
    if (ring->status == OTELREAD_RING_OK)
        (void)fprintf(out, "%u slots\n", ring->header.capacity);
    else
        (void)fprintf(out, "%s\n", otelread_ring_status_name(ring->status));
    if (ring->message[0] != '\0')
        (void)fprintf(out, "      (%s)\n", ring->message);
}

static void slot_print(FILE *out, const struct otelctx_ring_slot *slot)
{
    (void)fprintf(out, "  trace %016" PRIx64 "%016" PRIx64 " span %016" PRIx64,
                  slot->trace_id_high, slot->trace_id_low, slot->span_id);
}

/* Its number as the process sees it; 0 is not known. */
static void owner_print(FILE *out, const struct otelctx_ring_slot *slot)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (owner != 0)
        (void)fprintf(out, "  of thread %u", owner);
}

void otelread_text_leftovers_print(FILE *out, const struct otelread_ring *ring)
{
    if (ring->leftovers_count > 0)
        (void)fputs("  ring slots of threads that have ended\n", out);
    for (size_t i = 0; i < ring->leftovers_count; i++) {
        const struct otelread_leftover *const leftover = &ring->leftovers[i];

        (void)fprintf(out, "    slot %u", leftover->index);
        owner_print(out, &leftover->slot);
        slot_print(out, &leftover->slot);
        (void)fputc('\n', out);
    }
    if (ring->more_leftovers)
        (void)fputs("    and more\n", out);
}

static void ring_print(FILE *out, const struct otelread_storages *storages)
{
    const enum otelread_slot_status status = storages->ring_status;

    if (status == OTELREAD_SLOT_NONE || status == OTELREAD_SLOT_DETACHED)
        return;
    (void)fprintf(out, "      ring      %s", otelread_slot_status_name(status));
    if (status == OTELREAD_SLOT_COLLISION || status == OTELREAD_SLOT_STALE)
        owner_print(out, &storages->ring);
    if (status != OTELREAD_SLOT_BUSY && status != OTELREAD_SLOT_UNREADABLE)
        slot_print(out, &storages->ring);
    (void)fputc('\n', out);
}

static void profiler_print(FILE *out, const struct otelread_storages *storages)
{
    const struct otelctx_profiler_context *const context = &storages->profiler;
    const enum otelread_profiled_status status = storages->profiler_status;

    if (status != OTELREAD_PROFILED_ATTACHED &&
        status != OTELREAD_PROFILED_TORN &&
        status != OTELREAD_PROFILED_UNREADABLE)
        return;
    (void)fprintf(out, "      profiler  %s",
                  otelread_profiled_status_name(status));
    if (status == OTELREAD_PROFILED_ATTACHED) {
        (void)fprintf(out, "  root %016" PRIx64 " span %016" PRIx64 " tags",
                      context->root_span_id, context->span_id);
        for (size_t i = 0; i < OTELCTX_PROFILER_TAGS; i++)
            (void)fprintf(out, " %u", context->tags[i]);
    }
    (void)fputc('\n', out);
}

void otelread_text_storages_print(FILE *out,
                                  const struct otelread_thread *thread)
{
    const struct otelread_storages *const storages = &thread->storages;

    ring_print(out, storages);
    profiler_print(out, storages);
    if (storages->disagreement[0] != '\0')
        (void)fprintf(out, "      (storages disagree: %s)\n",
                      storages->disagreement);
}
