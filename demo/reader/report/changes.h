/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct otelread_seen;

/* The threads of one process as they were last time. Begin with all zero. */
struct otelread_changes {
    struct otelread_seen *seen; /* by tid */
    size_t count;
    uint64_t status; /* of all of them, a digest */
};

/*
 * Removes from the sample the threads whose contexts are what they were last
 * time, and adds those that have ended since. Returns whether there is anything
 * new. All threads are new when changes->status becomes another, and when
 * memory is short.
 */
bool otelread_changes_keep(struct otelread_changes *changes,
                           struct otelread_threads *threads);

/* Forgets last time: everything is new. */
void otelread_changes_free(struct otelread_changes *changes);
