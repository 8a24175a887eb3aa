/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/command/options.h"

#include <sys/types.h>

/*
 * Samples these processes, or all when pids is NULL, or replays a recording,
 * and shows what the options say. Returns an exit status.
 */
int oteltop_run(const struct oteltop_options *options, const pid_t *pids,
                size_t count);
