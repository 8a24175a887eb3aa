/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_TOP_MODEL_H
#define OTELCTX_TOP_MODEL_H

#include "demo/top/recording/read.h"
#include "demo/top/timeline/pool.h"

/* A process: a heading of the page. */
struct otelctx_top_process {
    uint64_t pid;
    size_t command, comm, container, cgroup, pod; /* texts */
    size_t service;                               /* text */
    size_t resource;                              /* set */
    bool gone;
    uint64_t gone_ns;
};

/* A thread: a row of the page. */
struct otelctx_top_row {
    size_t process;
    uint64_t tid;
    size_t comm; /* text */
    uint64_t cpu_ns;
    size_t last; /* its latest box, or OTELCTX_TOP_NOTHING */
    size_t box_count;
};

/* Ids and attributes together. */
struct otelctx_top_span {
    uint8_t span_id[8];
    uint8_t flags;
    size_t trace;
    size_t identity; /* the same for the same trace and span id */
    size_t set;
};

/* A stretch of one span on one thread, or one without. */
struct otelctx_top_box {
    size_t row;
    size_t span;    /* or OTELCTX_TOP_NOTHING */
    size_t none;    /* then: why (text) */
    size_t service; /* text */
    uint64_t start_ns, end_ns;
    uint64_t cpu_ns, wall_ns;
    uint32_t samples, running;
};

#define OTELCTX_TOP_NOTHING SIZE_MAX

/* A set of attributes: some of timeline->pairs. */
struct otelctx_top_set {
    size_t first, count;
};

/* Where the numbers of the recording lead. */
struct otelctx_top_numbers {
    struct otelctx_top_pool pool;
    size_t *indexes;
    size_t room;
};

/* Zeros are an empty one. */
struct otelctx_top_timeline {
    struct otelctx_top_pool texts;
    struct otelctx_top_pool sets; /* attributes: JSON, [["key","value"],...] */
    struct otelctx_top_set *set_list;
    size_t set_room;
    struct otelctx_top_attribute {
        size_t key, value; /* texts */
    } * pairs;
    size_t pair_count, pair_room;
    struct otelctx_top_pool traces, identities, contexts;

    size_t by, host; /* texts */
    uint64_t start_ns, hz, cpus;
    bool all_states;
    uint64_t end_ns; /* the latest time that the recording tells */
    bool complete;
    uint64_t stops, stopped_ns, longest_ns;
    uint64_t samples;

    struct otelctx_top_process *processes;
    size_t process_count, process_room;
    struct otelctx_top_row *rows;
    size_t row_count, row_room;
    struct otelctx_top_span *spans;
    size_t span_count, span_room;
    struct otelctx_top_box *boxes; /* of one row, in the order of time */
    size_t box_count, box_room;

    struct otelctx_top_numbers process_numbers, thread_numbers, span_numbers;
};

/* Adds a line. Returns NULL, or what is wrong with it. */
const char *otelctx_top_timeline_add(struct otelctx_top_timeline *timeline,
                                     const struct otelctx_top_line *line);

/* Reads all of a recording. As otelctx_top_recording_next(); 0 at its end. */
int otelctx_top_timeline_read(struct otelctx_top_timeline *timeline,
                              struct otelctx_top_recording *recording);

/* A text by its number. */
const struct otelctx_top_pool_item *
otelctx_top_timeline_text(const struct otelctx_top_timeline *timeline,
                          size_t text);

void otelctx_top_timeline_free(struct otelctx_top_timeline *timeline);

#endif
