/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

/* Hands out the samples of a recording. Set recording.in and taker, and all
 * else to zero. Exits when there is no memory. */
struct oteltop_replay {
    struct oteltop_recording recording;
    struct oteltop_taker taker; /* only `sample` is called */

    uint64_t start_unix_ns;
    unsigned hz;
    bool wall;
    uint64_t last_ns; /* the time up to which samples were handed out */
    size_t running;   /* number of processes at that time */
    bool is_over;     /* all lines were read */
    bool is_ahead;    /* the line read last is still to be used */
    struct oteltop_cost cost;

    /* What lines introduced. Replaced objects stay, for earlier samples. */
    struct otelbase_numbers process_numbers, thread_numbers, span_numbers;
    struct oteltop_process **processes;
    size_t process_count, process_room;
    struct oteltop_replayed *threads;
    size_t thread_count, thread_room;
    struct oteltop_span **spans;
    size_t span_count, span_room;
    struct otelbase_pool reasons;
    struct otelbase_pool identities; /* trace id and span id */
    uint64_t *first_ns; /* first time of each trace id and span id */
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
