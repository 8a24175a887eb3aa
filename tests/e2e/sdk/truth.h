/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the threads of a server work for, as its handlers say: a file of slots,
 * mapped by the server (truth.py, Truth.java, ...) and by the sampler. A thread
 * writes slot `tid % TRUTH_SLOTS` alone.
 *
 * A handler calls begin() where it begins to compute and end() before it waits
 * for something, or returns:
 *     begin: fill all other fields, then sequence += 1 (odd: inside)
 *     end:   sequence += 1
 */

#include <assert.h>
#include <stdint.h>

#define TRUTH_SLOTS 4096

struct truth {
    uint64_t sequence; /* odd: the thread is inside a handler */
    uint32_t pid;
    uint32_t tid;
    uint8_t trace_id[16];
    uint8_t span_id[8]; /* all zero: any span of the trace */
    char route[24];     /* http.route that is to be shown; "": any or none */
};
static_assert(sizeof(struct truth) == 64, "");
