/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_REPLAY_H
#define OTELTOP_REPLAY_H

#include "demo/base/numbers.h"
#include "demo/top/model/taker.h"
#include "demo/top/recording/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread, and the number of its process. */
struct oteltop_replayed {
    struct oteltop_thread *thread;
    uint64_t process;
};

/*
 * Hands out the samples of a recording again. Set recording.in and taker, and
 * all else to zero. Ends the program when there is no memory.
 */
struct oteltop_replay {
    struct oteltop_recording recording;
    struct oteltop_taker taker; /* only sample is called */

    uint64_t start_unix_ns;
    unsigned hz;
    bool wall;
    uint64_t last_ns; /* up to where it was replayed */
    size_t running;   /* processes that are there at that time */
    bool is_over;     /* no line is left */
    bool is_ahead;    /* the line that was read is to be used later */
    struct oteltop_cost cost;

    /* What lines introduced; what was replaced stays, for earlier samples. */
    struct otelbase_numbers process_numbers, thread_numbers, span_numbers;
    struct oteltop_process **processes;
    size_t process_count, process_room;
    struct oteltop_replayed *threads;
    size_t thread_count, thread_room;
    struct oteltop_span **spans;
    size_t span_count, span_room;
    struct otelbase_pool reasons;
    struct otelbase_pool identities; /* trace id and span id */
    uint64_t *first_ns;              /* when each of them was seen first */
    size_t first_room;
};

/*
 * Reads the first line. Returns 0, or a negative errno as
 * oteltop_recording_next() does.
 */
int oteltop_replay_begin(struct oteltop_replay *replay);

/*
 * Hands out the samples up to this time, in ns since the start. Returns 0 or a
 * negative errno, likewise.
 */
int oteltop_replay_until(struct oteltop_replay *replay, uint64_t at_ns);

void oteltop_replay_free(struct oteltop_replay *replay);

#endif
