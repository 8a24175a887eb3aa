/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_TABLE_H
#define OTELCTX_TOP_TABLE_H

#include "demo/top/timeline/model.h"

/* What the rows of a table stand for. */
enum otelctx_top_by {
    OTELCTX_TOP_BY_SERVICE,
    OTELCTX_TOP_BY_SET, /* service and attributes, or why there are none */
    OTELCTX_TOP_BY_TRACE
};

struct otelctx_top_sum {
    size_t service; /* text; 0 in a table by trace */
    size_t none;    /* text, or OTELCTX_TOP_NOTHING */
    size_t set;     /* or OTELCTX_TOP_NOTHING */
    size_t trace;   /* likewise; without context in a table by trace: both */
    uint64_t cpu_ns, wall_ns, samples;
    size_t threads;
    uint64_t longest_ns; /* of all spans, from first to last seen here */
};

struct otelctx_top_table {
    struct otelctx_top_sum *sums; /* the most processor time first */
    size_t count, room;
};

/*
 * Sums up all boxes; every sample is in one sum. A table by service has neither
 * none nor sets, and without context is a sum of its own in the other two.
 */
struct otelctx_top_table
otelctx_top_table_make(const struct otelctx_top_timeline *timeline,
                       enum otelctx_top_by by);

#endif
