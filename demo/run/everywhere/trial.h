/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/everywhere/file.h"

#include <stdbool.h>

/* What came of a trial. */
struct otelrun_trial {
    unsigned count; /* of programs that ran as they do without the library */
    const char *program; /* it differs with the library; or NULL */
    char why[512];       /* the trial failed */
};

/*
 * Runs twenty programs of this machine, and `command` unless it is empty, once
 * with each draft in the place of the file, in a mount namespace. From then on
 * this process is in that namespace. Output and status must be the same, and
 * the library must have been loaded.
 *
 * library  a path without symbolic links
 *
 * Returns false if they are not, or if this cannot be found out.
 */
bool otelrun_trial_run(const struct otelrun_file *file, const char *library,
                       char **command, struct otelrun_trial *out);
