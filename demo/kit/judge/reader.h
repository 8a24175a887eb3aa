/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELKIT_READER_H
#define OTELKIT_READER_H

#include "demo/kit/judge/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A reader's command, and what it may take. */
struct otelkit_reader {
    char **command;      /* with {} for the pid, {name} for the scenario */
    const char *adapter; /* a file with a jq filter, or NULL */
    long limit_ms;
    long memory_kib;
};

/* How one run of it ended. */
struct otelkit_run {
    bool hung;       /* it was killed at the limit */
    int signal;      /* that ended it, or 0 */
    int status;      /* its exit status */
    long memory_kib; /* the most that was resident */
    char *output;    /* on standard output, through the adapter */
    size_t size;
    bool unadapted; /* the adapter failed */
    uint64_t lasted_ns;
};

/* Runs the reader on a process. Returns 0 or -errno. */
int otelkit_reader_run(const struct otelkit_reader *reader, pid_t pid,
                       const char *scenario, struct otelkit_run *run);
void otelkit_run_free(struct otelkit_run *run);

/* Whether a thread of the process stays stopped. Another reader, of all threads
 * of the machine, stops it for a moment. */
bool otelkit_is_left_stopped(pid_t pid);

#endif
