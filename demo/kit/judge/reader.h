/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/kit/judge/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A reader's command and its limits. */
struct otelkit_reader {
    char **command;      /* with {} for the pid, {name} for the scenario */
    const char *adapter; /* a file with a jq filter, or NULL */
    long limit_ms;
    long memory_kib;
};

/* The result of one run. */
struct otelkit_run {
    bool hung;  /* the reader was killed at the limit */
    int signal; /* the signal that ended the reader, or 0 */
    int status;
    long memory_kib; /* peak resident memory */
    char *output;    /* standard output, filtered by the adapter */
    size_t size;
    bool unadapted; /* the adapter failed */
    uint64_t lasted_ns;
};

/* Runs the reader on a process. Returns 0 or -errno. */
int otelkit_reader_run(const struct otelkit_reader *reader, pid_t pid,
                       const char *scenario, struct otelkit_run *run);
void otelkit_run_free(struct otelkit_run *run);

/* Whether a thread of the process stays stopped. Another program that reads all
 * threads of the machine may stop a thread for a moment: that does not count.
 */
bool otelkit_is_left_stopped(pid_t pid);
