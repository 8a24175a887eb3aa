/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_COLLECTION_H
#define OTELTOP_COLLECTION_H

#include "demo/top/collect/watched.h"
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

#endif
