/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/storages.h"

#include "demo/base/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- what each says ----------------------------------------------------- */

static void judge_ring(struct otelread_storages *storages,
                       const struct otelread_snapshot *snapshot,
                       const struct otelread_ring *ring)
{
    storages->ring = snapshot->ring;
    storages->ring_index = otelread_ring_index(ring, storages->inside);
    storages->ring_status =
        snapshot->ring_error > 0 ? OTELREAD_SLOT_BUSY
        : snapshot->ring_error < 0
            ? OTELREAD_SLOT_UNREADABLE
            : otelread_slot_judge(&snapshot->ring, storages->inside);
}

static void judge_profiler(struct otelread_storages *storages,
                           const struct otelread_snapshot *snapshot)
{
    storages->profiler = snapshot->profiler;
    storages->profiler_status =
        snapshot->profiler_error == -ENODATA ? OTELREAD_PROFILED_UNTOUCHED
        : snapshot->profiler_error != 0
            ? OTELREAD_PROFILED_UNREADABLE
            : otelread_profiled_judge(&snapshot->profiler);
}

void otelread_storages_judge(struct otelread_storages *storages,
                             const struct otelread_snapshot *snapshot,
                             const struct otelread_places *places)
{
    *storages = (struct otelread_storages){.inside = storages->inside};
    if (places->ring)
        judge_ring(storages, snapshot, places->ring);
    if (places->profiler)
        judge_profiler(storages, snapshot);
}

bool otelread_storages_attached(const struct otelread_storages *storages)
{
    return storages->ring_status == OTELREAD_SLOT_ATTACHED ||
           storages->profiler_status == OTELREAD_PROFILED_ATTACHED;
}

/* ---- whether they say the same ------------------------------------------ */

static struct otelread_opinion
opinion_of_ring(const struct otelread_storages *storages)
{
    const struct otelctx_ring_slot *const slot = &storages->ring;

    return (struct otelread_opinion){
        .counts = storages->ring_status == OTELREAD_SLOT_ATTACHED ||
                  (storages->ring_status == OTELREAD_SLOT_DETACHED &&
                   otelctx_ring_thread(slot->lock) == storages->inside),
        .trace_high = slot->trace_id_high,
        .trace_low = slot->trace_id_low,
        .span = slot->span_id,
    };
}

/* A variable with checksum 0 may be one that nobody writes. */
static struct otelread_opinion
opinion_of_profiler(const struct otelread_storages *storages)
{
    return (struct otelread_opinion){
        .counts = storages->profiler_status == OTELREAD_PROFILED_ATTACHED,
        .short_trace = true,
        .trace_low = storages->profiler.root_span_id,
        .span = storages->profiler.span_id,
    };
}

static bool differ(const struct otelread_opinion *a,
                   const struct otelread_opinion *b)
{
    if (!a->counts || !b->counts)
        return false;
    return a->trace_low != b->trace_low || a->span != b->span ||
           (!a->short_trace && !b->short_trace &&
            a->trace_high != b->trace_high);
}

static void add(char *text, size_t size, const char *storage,
                const struct otelread_opinion *opinion)
{
    char high[24] = "...";

    if (!opinion->counts)
        return;
    if (!opinion->short_trace)
        (void)snprintf(high, sizeof(high), "%016" PRIx64, opinion->trace_high);
    if (opinion->trace_high == 0 && opinion->trace_low == 0 &&
        opinion->span == 0)
        otelbase_message_add(text, size, "%s none", storage);
    else
        otelbase_message_add(text, size,
                             "%s trace %s%016" PRIx64 " span %016" PRIx64,
                             storage, high, opinion->trace_low, opinion->span);
}

bool otelread_storages_disagree(struct otelread_storages *storages,
                                const struct otelread_opinion *tls)
{
    const struct otelread_opinion ring = opinion_of_ring(storages);
    const struct otelread_opinion profiler = opinion_of_profiler(storages);
    char *const text = storages->disagreement;
    const size_t size = sizeof(storages->disagreement);

    text[0] = '\0';
    if (!differ(tls, &ring) && !differ(tls, &profiler) &&
        !differ(&ring, &profiler))
        return false;
    add(text, size, "tls", tls);
    add(text, size, "ring", &ring);
    add(text, size, "profiler", &profiler);
    return true;
}
