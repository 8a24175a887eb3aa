/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The processes that the command line names; pids is to be freed. */
struct otelread_targets {
    pid_t *pids;
    size_t count;
};

/*
 * Finds the processes: a word of digits is a number, any other a name. Says on
 * standard error when a name has no process, and when a number is that of a
 * thread. Returns an exit status; targets has what was found in any case.
 */
int otelread_targets_find(struct otelread_targets *targets, char *const *words,
                          size_t count);
