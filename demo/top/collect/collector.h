/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_COLLECTOR_H
#define OTELTOP_COLLECTOR_H

#include "demo/top/collect/watched.h"
#include "demo/top/model/model.h"
#include "demo/top/model/taker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set the first fields, and all else to zero. */
struct oteltop_collector {
    const pid_t *pids; /* those to look at; NULL: all */
    size_t pids_count;
    bool no_stop;
    bool every; /* threads that sleep, too */
    unsigned hz_wanted;
    struct oteltop_taker taker;

    struct oteltop_watched **watched; /* by pid */
    size_t count;
    struct oteltop_ended ended;
    unsigned hz; /* what this machine can do */
    uint64_t start_ns;
    uint64_t last_ns;
    uint64_t next_list_ns;
    uint64_t next_adapted_ns;
    size_t next_updated; /* indexes of watched: who comes next */
    size_t next_sampled;
    uint64_t busy_ns;   /* of this program, at the looks of this second */
    int64_t allowed_ns; /* for stops; below zero, none */
    struct oteltop_cost cost;
};

/* Finds the processes. Returns 0, or -errno. */
int oteltop_collector_begin(struct oteltop_collector *collector);

/* When to look next, by CLOCK_MONOTONIC. */
uint64_t oteltop_collector_next_ns(const struct oteltop_collector *collector);

/* Looks at all processes once, and hands out samples. */
void oteltop_collector_look(struct oteltop_collector *collector);

/*
 * Hands out what was measured and not sampled. To be called before what was
 * handed out is shown.
 */
void oteltop_collector_settle(struct oteltop_collector *collector);

/* Looks for the last time, and hands out what threads owe without a sample. */
void oteltop_collector_finish(struct oteltop_collector *collector);

/* Nothing refers to earlier samples any more. */
void oteltop_collector_forget(struct oteltop_collector *collector);

void oteltop_collector_free(struct oteltop_collector *collector);

#endif
