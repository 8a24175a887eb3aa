/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

/* The meaning of a table's rows. */
enum oteltime_by {
    OTELTIME_BY_SERVICE,
    OTELTIME_BY_SET, /* service and attributes, or why there are none */
    OTELTIME_BY_TRACE
};

struct oteltime_sum {
    size_t service; /* text; 0 in a table by trace */
    size_t none;    /* text, or OTELBASE_NOTHING */
    size_t set;     /* or OTELBASE_NOTHING */
    size_t trace;   /* likewise; without context in a table by trace: both */
    uint64_t cpu_ns, wall_ns, samples;
    size_t threads;
    uint64_t longest_ns; /* longest span */
};

struct oteltime_table {
    struct oteltime_sum *sums; /* the most processor time first */
    size_t count, room;
};

/* Sums up all boxes; each sample is in one sum. A table by service uses neither
 * `none` nor `set`. The other two have one sum for all boxes without a context.
 */
struct oteltime_table
oteltime_table_make(const struct oteltime_timeline *timeline,
                    enum oteltime_by by);
