/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/command/depth.h"
#include "demo/reader/command/show.h"

#include <stddef.h>
#include <sys/types.h>

/* Shows these processes. Returns the first status that is not OTELREAD_OK. */
int otelread_once(struct otelread_output *output, const pid_t *pids,
                  size_t count, enum otelread_depth depth);

/* A report of one process; again when an exec comes in between. */
void otelread_once_make(struct otelread_report *report, pid_t pid,
                        enum otelread_depth depth);
