/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_ONCE_H
#define OTELREAD_ONCE_H

#include "demo/reader/command/depth.h"
#include "demo/reader/command/show.h"

#include <stddef.h>
#include <sys/types.h>

/* Shows these processes. Returns the first status that is not OTELREAD_OK. */
int otelread_once(struct otelread_output *output, const pid_t *pids,
                  size_t count, enum otelread_depth depth);

/*
 * Shows every process that has a context. Returns 0 when there was one, else
 * OTELREAD_NO_CONTEXT, or OTELREAD_NO_PERMISSION when none could be read.
 */
int otelread_once_all(struct otelread_output *output,
                      enum otelread_depth depth);

#endif
