/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/numbers.h"
#include "demo/base/pool.h"
#include "demo/top/recording/read.h"

/* A process: a heading of the page. */
struct oteltime_process {
    uint64_t pid;
    size_t command, comm, container, cgroup, pod; /* texts */
    size_t service;                               /* text */
    size_t resource;                              /* set */
    bool gone;
    uint64_t gone_ns;
};

/* A thread: a row of the page. */
struct oteltime_row {
    size_t process;
    uint64_t tid;
    size_t comm; /* text */
    uint64_t cpu_ns;
    size_t last; /* its latest box, or OTELBASE_NOTHING */
    size_t box_count;
};

/* A span: ids and attributes. */
struct oteltime_span {
    uint8_t span_id[8];
    uint8_t flags;
    size_t trace;
    size_t identity; /* the same for the same trace and span id */
    size_t set;
};

/* A time during which a thread had one span, or none. */
struct oteltime_box {
    size_t row;
    size_t span;    /* or OTELBASE_NOTHING */
    size_t none;    /* without a span: why (text) */
    size_t service; /* text */
    uint64_t start_ns, end_ns;
    uint64_t cpu_ns, wall_ns;
    uint32_t samples, running;
};

/* A set of attributes: a range of timeline->pairs. */
struct oteltime_set {
    size_t first, count;
};

/* A timeline. All zero is an empty one. */
struct oteltime_timeline {
    struct otelbase_pool texts;
    struct otelbase_pool sets; /* attributes: JSON, [["key","value"],...] */
    struct oteltime_set *set_list;
    size_t set_room;
    struct oteltime_attribute {
        size_t key, value; /* texts */
    } * pairs;
    size_t pair_count, pair_room;
    struct otelbase_pool traces, identities, contexts;

    size_t by, host; /* texts */
    uint64_t start_ns, hz, cpus;
    bool all_states;
    uint64_t end_ns; /* the latest time in the recording */
    bool complete;
    uint64_t stops, stopped_ns, longest_ns;
    uint64_t samples;

    struct oteltime_process *processes;
    size_t process_count, process_room;
    struct oteltime_row *rows;
    size_t row_count, row_room;
    struct oteltime_span *spans;
    size_t span_count, span_room;
    struct oteltime_box
        *boxes; /* the boxes of each row, in the order of time */
    size_t box_count, box_room;

    struct otelbase_numbers process_numbers, thread_numbers, span_numbers;
};

/* Adds a line. Returns NULL, or the fault. */
const char *oteltime_timeline_add(struct oteltime_timeline *timeline,
                                  const struct oteltop_line *line);

/* Reads all of a recording. As oteltop_recording_next(); 0 at its end. */
int oteltime_timeline_read(struct oteltime_timeline *timeline,
                           struct oteltop_recording *recording);

/* A text by its number. */
const struct otelbase_pool_item *
oteltime_timeline_text(const struct oteltime_timeline *timeline, size_t text);

void oteltime_timeline_free(struct oteltime_timeline *timeline);
