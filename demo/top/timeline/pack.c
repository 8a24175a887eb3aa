/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/pack.h"

#include "demo/base/grow.h"

#include <stdlib.h>

enum {
    HAS_GAP = 1,
    HAS_WALL = 2,
    HAS_SAMPLES = 4,
    HAS_STOPPED = 8,
    HAS_CONTEXT = 16
};

/* Indexes of the timeline's spans and traces among the packed ones. */
struct packer {
    const struct oteltime_timeline *timeline;
    struct oteltime_packed packed;
    size_t *spans, *traces;
};

static void put_byte(struct oteltime_bytes *out, unsigned byte)
{
    out->bytes = otelbase_grow(out->bytes, out->size, &out->room, 1);
    out->bytes[out->size++] = (uint8_t)byte;
}

static void put_bytes(struct oteltime_bytes *out, const void *bytes,
                      size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_byte(out, ((const uint8_t *)bytes)[i]);
}

void oteltime_bytes_number(struct oteltime_bytes *out, uint64_t number)
{
    for (; number > 127; number >>= 7)
        put_byte(out, 128 | (unsigned)(number & 127));
    put_byte(out, (unsigned)number);
}

/* Zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. */
static void put_signed(struct oteltime_bytes *out, int64_t number)
{
    oteltime_bytes_number(out, (uint64_t)number << 1 ^
                                   (number < 0 ? UINT64_MAX : 0));
}

static uint64_t units(uint64_t ns)
{
    return ns / OTELTIME_UNIT_NS + (ns % OTELTIME_UNIT_NS >= 5000);
}

static void put_span(struct packer *packer, const struct oteltime_span *span)
{
    struct oteltime_packed *const packed = &packer->packed;
    size_t *const trace = &packer->traces[span->trace];

    put_bytes(&packed->spans, span->span_id, sizeof(span->span_id));
    put_byte(&packed->spans, span->flags);
    oteltime_bytes_number(&packed->spans, span->set);
    if (*trace != OTELBASE_NOTHING) {
        oteltime_bytes_number(&packed->spans, packed->trace_count - *trace);
        return;
    }
    oteltime_bytes_number(&packed->spans, 0);
    put_bytes(&packed->traces,
              packer->timeline->traces.items[span->trace].bytes, 16);
    *trace = packed->trace_count++;
}

/* Writes the box's span if that is new. Returns whether it is. */
static bool put_new_span(struct packer *packer, const struct oteltime_box *box)
{
    if (box->span == OTELBASE_NOTHING ||
        packer->spans[box->span] != OTELBASE_NOTHING)
        return false;
    put_span(packer, &packer->timeline->spans[box->span]);
    packer->spans[box->span] = packer->packed.span_count++;
    return true;
}

static uint64_t context_of(const struct packer *packer,
                           const struct oteltime_box *box)
{
    return box->span == OTELBASE_NOTHING
               ? 2 * box->none
               : 1 + 2 * (packer->packed.span_count - packer->spans[box->span]);
}

static void put_box(struct packer *packer, const struct oteltime_box *box,
                    uint64_t *at)
{
    struct oteltime_bytes *const out = &packer->packed.boxes;
    const bool new = put_new_span(packer, box);
    const uint64_t start = units(box->start_ns), end = units(box->end_ns);
    const uint64_t length = end - start, wall = units(box->wall_ns);
    const double expected =
        (double)length * (double)packer->timeline->hz * OTELTIME_UNIT_NS / 1e9;
    const bool usual =
        box->samples == (expected < 1.5   ? 1
                         : expected < 1e9 ? (uint32_t)(expected + .5)
                                          : 0);

    put_byte(out, (start != *at ? HAS_GAP : 0U) |
                      (wall != length ? HAS_WALL : 0U) |
                      (usual ? 0U : HAS_SAMPLES) |
                      (box->running != box->samples ? HAS_STOPPED : 0U) |
                      (new ? 0U : HAS_CONTEXT));
    oteltime_bytes_number(out, length);
    if (start != *at)
        oteltime_bytes_number(out, start - *at);
    if (wall != length)
        put_signed(out, (int64_t)(wall - length));
    if (!usual)
        oteltime_bytes_number(out, box->samples);
    if (box->running != box->samples)
        oteltime_bytes_number(out, box->samples - box->running);
    if (!new)
        oteltime_bytes_number(out, context_of(packer, box));
    put_signed(out, (int64_t)(wall - units(box->cpu_ns)));
    *at = end;
}

static size_t *nothings(size_t count)
{
    size_t *const array = otelbase_zeros(count, sizeof(*array));

    for (size_t i = 0; i < count; i++)
        array[i] = OTELBASE_NOTHING;
    return array;
}

/* The boxes of each row are adjacent: finds where each row's begin. */
static size_t *sort_boxes(const struct oteltime_timeline *timeline,
                          size_t **starts)
{
    size_t *const sorted = nothings(timeline->box_count);
    size_t *const next = nothings(timeline->row_count);
    size_t at = 0;

    *starts = nothings(timeline->row_count);
    for (size_t i = 0; i < timeline->row_count; i++) {
        (*starts)[i] = next[i] = at;
        at += timeline->rows[i].box_count;
    }
    for (size_t i = 0; i < timeline->box_count; i++)
        sorted[next[timeline->boxes[i].row]++] = i;
    free(next);
    return sorted;
}

struct oteltime_packed oteltime_pack(const struct oteltime_timeline *timeline,
                                     const size_t *rows)
{
    struct packer packer = {.timeline = timeline,
                            .spans = nothings(timeline->span_count),
                            .traces = nothings(timeline->traces.count)};
    size_t *starts;
    size_t *const sorted = sort_boxes(timeline, &starts);

    for (size_t i = 0; i < timeline->row_count; i++) {
        const size_t count = timeline->rows[rows[i]].box_count;
        uint64_t at = 0;

        oteltime_bytes_number(&packer.packed.boxes, count);
        for (size_t j = 0; j < count; j++)
            put_box(&packer, &timeline->boxes[sorted[starts[rows[i]] + j]],
                    &at);
        packer.packed.box_count += count;
    }
    free(sorted);
    free(starts);
    free(packer.spans);
    free(packer.traces);
    return packer.packed;
}

void oteltime_packed_free(struct oteltime_packed *packed)
{
    free(packed->boxes.bytes);
    free(packed->spans.bytes);
    free(packed->traces.bytes);
}
