/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/collect/watched.h"
#include "demo/top/model/taker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples processes. Set the fields before `watched`, and all else to zero. */
struct oteltop_collector {
    const pid_t *pids; /* the processes to sample; NULL: all */
    size_t pids_count;
    bool no_stop;
    bool every; /* sample sleeping threads as well */
    unsigned hz_wanted;
    struct oteltop_taker taker;

    struct oteltop_watched **watched; /* sorted by pid */
    size_t count;
    struct oteltop_ended ended;
    unsigned hz; /* the rate that this machine can keep up */
    uint64_t start_ns;
    uint64_t last_ns;
    uint64_t next_list_ns;
    uint64_t next_adapted_ns;
    size_t next_updated; /* index into watched: the process to begin with */
    size_t next_sampled;
    uint64_t busy_ns;   /* used by this program at the looks of this second */
    int64_t allowed_ns; /* time left for stops; below zero: no stops */
    struct oteltop_cost cost;
};
