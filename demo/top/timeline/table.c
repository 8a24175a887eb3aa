/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/table.h"

#include "demo/base/grow.h"

#include <stdlib.h>

struct key {
    size_t service, none, set, trace;
};

/* The first and the last time of a span within one sum. */
struct extent {
    uint64_t start_ns, end_ns;
    size_t sum;
};

static struct key key_of(const struct oteltime_timeline *timeline,
                         const struct oteltime_box *box, enum oteltime_by by)
{
    const struct oteltime_span *const span =
        box->span == OTELBASE_NOTHING ? NULL : &timeline->spans[box->span];
    struct key key = {0, OTELBASE_NOTHING, OTELBASE_NOTHING, OTELBASE_NOTHING};

    if (by != OTELTIME_BY_TRACE)
        key.service = box->service;
    if (by == OTELTIME_BY_SET) {
        key.none = box->none;
        key.set = span ? span->set : OTELBASE_NOTHING;
    }
    if (by == OTELTIME_BY_TRACE)
        key.trace = span ? span->trace : OTELBASE_NOTHING;
    return key;
}

/* The number of a pair. */
static size_t pair_add(struct otelbase_pool *pool, size_t one, size_t other,
                       bool *new)
{
    const size_t pair[] = {one, other};

    return otelbase_pool_add(pool, pair, sizeof(pair), new);
}

static int by_cpu(const void *a, const void *b)
{
    const struct oteltime_sum *const one = a;
    const struct oteltime_sum *const other = b;

    if (one->cpu_ns != other->cpu_ns)
        return one->cpu_ns < other->cpu_ns ? 1 : -1;
    if (one->wall_ns != other->wall_ns)
        return one->wall_ns < other->wall_ns ? 1 : -1;
    if (one->service != other->service)
        return one->service < other->service ? -1 : 1;
    if (one->set != other->set)
        return one->set < other->set ? -1 : 1;
    if (one->none != other->none)
        return one->none < other->none ? -1 : 1;
    return one->trace < other->trace ? -1 : one->trace > other->trace;
}

static struct oteltime_sum *sum_of(struct oteltime_table *table,
                                   struct otelbase_pool *keys,
                                   const struct key *key, size_t *index)
{
    bool new;

    *index = otelbase_pool_add(keys, key, sizeof(*key), &new);
    table->sums =
        otelbase_grow(table->sums, *index, &table->room, sizeof(*table->sums));
    if (new) {
        table->sums[*index] = (struct oteltime_sum){.service = key->service,
                                                    .none = key->none,
                                                    .set = key->set,
                                                    .trace = key->trace};
        table->count++;
    }
    return &table->sums[*index];
}

struct oteltime_table
oteltime_table_make(const struct oteltime_timeline *timeline,
                    enum oteltime_by by)
{
    struct oteltime_table table = {.count = 0};
    struct otelbase_pool keys = {.count = 0}, threads = {.count = 0},
                         spans = {.count = 0};
    struct extent *extents = NULL;
    size_t extent_room = 0;
    bool new;

    for (size_t i = 0; i < timeline->box_count; i++) {
        const struct oteltime_box *const box = &timeline->boxes[i];
        const struct key key = key_of(timeline, box, by);
        size_t at;
        struct oteltime_sum *const sum = sum_of(&table, &keys, &key, &at);

        sum->cpu_ns += box->cpu_ns;
        sum->wall_ns += box->wall_ns;
        sum->samples += box->samples;
        (void)pair_add(&threads, at, box->row, &new);
        sum->threads += new;
        if (box->span == OTELBASE_NOTHING)
            continue;
        const size_t seen =
            pair_add(&spans, at, timeline->spans[box->span].identity, &new);
        extents = otelbase_grow(extents, seen, &extent_room, sizeof(*extents));
        if (new)
            extents[seen] = (struct extent){box->start_ns, box->end_ns, at};
        if (extents[seen].start_ns > box->start_ns)
            extents[seen].start_ns = box->start_ns;
        if (extents[seen].end_ns < box->end_ns)
            extents[seen].end_ns = box->end_ns;
    }
    for (size_t i = 0; i < spans.count; i++) {
        struct oteltime_sum *const sum = &table.sums[extents[i].sum];
        const uint64_t time_ns = extents[i].end_ns - extents[i].start_ns;

        if (sum->longest_ns < time_ns)
            sum->longest_ns = time_ns;
    }
    if (table.count > 0)
        qsort(table.sums, table.count, sizeof(*table.sums), by_cpu);
    otelbase_pool_free(&keys);
    otelbase_pool_free(&threads);
    otelbase_pool_free(&spans);
    free(extents);
    return table;
}
