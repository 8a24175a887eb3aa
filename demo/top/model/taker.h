/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELTOP_TAKER_H
#define OTELTOP_TAKER_H

#include "demo/top/model/model.h"

/* Who takes samples, and is told of processes that have ended. */
struct oteltop_taker {
    void *self;
    void (*sample)(void *self, const struct oteltop_sample *sample);
    void (*gone)(void *self, const struct oteltop_process *process,
                 uint64_t at_ns);
    void (*rate)(void *self, unsigned hz, uint64_t at_ns);
};

/* What the looks cost the programs. */
struct oteltop_cost {
    uint64_t stops;
    uint64_t stopped_ns;
    uint64_t longest_ns;
    uint64_t left_out; /* stops that would have been too many */
};

#endif
