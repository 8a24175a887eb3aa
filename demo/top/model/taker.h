/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/model/model.h"

/* The receiver of samples, which also learns which processes have ended. */
struct oteltop_taker {
    void *self;
    void (*sample)(void *self, const struct oteltop_sample *sample);
    void (*gone)(void *self, const struct oteltop_process *process,
                 uint64_t at_ns);
    void (*rate)(void *self, unsigned hz, uint64_t at_ns);
};

/* The cost of the looks for the programs. */
struct oteltop_cost {
    uint64_t stops;
    uint64_t stopped_ns;
    uint64_t longest_ns;
    uint64_t left_out; /* stops that the allowance did not permit */
};
