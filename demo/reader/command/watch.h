/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/command/depth.h"
#include "demo/reader/command/show.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Shows the contexts of these processes, with those of their threads if depth
 * says so, and each change of them, until all
 * have ended or SIGINT or SIGTERM comes. Returns 0 when every process was ok at
 * some time or a signal came, else the last status of the first that never was.
 */
int otelread_watch(struct otelread_output *output, const pid_t *pids,
                   size_t count, enum otelread_depth depth);

/* The same for every process there is or will be, until a signal comes. */
int otelread_watch_all(struct otelread_output *output,
                       enum otelread_depth depth);
