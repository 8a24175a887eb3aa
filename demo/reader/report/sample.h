/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/target.h"
#include "demo/reader/report/places.h"
#include "demo/reader/report/thread.h"

#include <stdbool.h>
#include <stddef.h>

enum otelread_manner {
    OTELREAD_AS_IT_RUNS,
    OTELREAD_STOPPED,
    OTELREAD_BRIEFLY, /* stopped, unless it executes no code anyway */
};

/* The threads of one process, by tid. Begin with all zero. */
struct otelread_sample {
    struct otelread_thread *threads;
    size_t count;
    size_t room;
};

/*
 * Reads every thread of the process, one after the other, stopped or while it
 * runs on. Returns 0 or -errno.
 * Rule: OTEP 4947, "Reading Protocol", step 2.
 */
int otelread_sample_take(struct otelread_sample *sample,
                         struct otelread_target *target,
                         const struct otelread_places *places,
                         enum otelread_manner manner);

/* The same of the threads that otelread_sample_add() added, and no others. */
int otelread_sample_read(struct otelread_sample *sample,
                         struct otelread_target *target,
                         const struct otelread_places *places,
                         enum otelread_manner manner);

/* Appends a thread that was not read. Returns 0 or -ENOMEM. */
int otelread_sample_add(struct otelread_sample *sample, pid_t tid);

/* By tid. Moves them: see otelread_thread_interpret(). */
void otelread_sample_sort(struct otelread_sample *sample);

/* Forgets the threads. */
void otelread_sample_clear(struct otelread_sample *sample);

void otelread_sample_free(struct otelread_sample *sample);
