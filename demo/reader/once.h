/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_ONCE_H
#define OTELREAD_ONCE_H

#include "demo/reader/show.h"

#include <stddef.h>
#include <sys/types.h>

/* Whether to look at the threads, too, and how. */
enum otelread_depth {
    OTELREAD_DEPTH_PROCESS,
    OTELREAD_DEPTH_STOPPED,
    OTELREAD_DEPTH_RUNNING,
};

/* Shows these processes. Returns the status of the first that was not ok. */
int otelread_once(struct otelread_output *output, const pid_t *pids,
                  size_t count, enum otelread_depth depth);

/*
 * Shows every process that has a context. Returns 0 when there was one, else
 * OTELREAD_NO_CONTEXT, or OTELREAD_NO_PERMISSION when none could be read.
 */
int otelread_once_all(struct otelread_output *output,
                      enum otelread_depth depth);

#endif
