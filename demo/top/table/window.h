/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sum of all samples of one thread with one span and one state. */
struct oteltop_cell {
    struct oteltop_thread *thread;
    struct oteltop_span *span; /* or NULL */
    const char *none;          /* why there is no span */
    char state;
    uint64_t cpu_ns;
    uint64_t wall_ns;
    uint64_t samples;
    uint64_t untrusted;
};

/* The sum of the samples of a period. Begin with all zero. */
struct oteltop_window {
    struct oteltop_cell *cells; /* a hash table: those with a thread */
    size_t room;                /* a power of two, or 0 */
    size_t count;
    uint64_t begin_ns; /* set by the caller */
    uint64_t end_ns;
    uint64_t lost; /* samples for which there was no memory */
};

void oteltop_window_add(struct oteltop_window *window,
                        const struct oteltop_sample *sample);

/* Empties the window; the next begins where this one ends. */
void oteltop_window_clear(struct oteltop_window *window);

void oteltop_window_free(struct oteltop_window *window);
