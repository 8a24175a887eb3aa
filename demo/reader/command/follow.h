/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/command/depth.h"
#include "demo/reader/command/show.h"
#include "demo/reader/report/changes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One process that is being watched. Begin with pid, depth and quiet. */
struct otelread_follow {
    pid_t pid;
    enum otelread_depth depth;
    bool quiet;   /* --all: report it only once it had a context */
    bool started; /* there is a report */
    bool was_ok;  /* it had a good context at some time */
    bool had_one; /* a context, good or bad, was shown */
    bool moved;   /* it began another program while its threads were read */
    bool ended;   /* it ended or must not be read: never poll it again */
    enum otelread_status last; /* before the end */
    uint64_t born;             /* report.target.started of the first report */
    uint64_t digest;           /* of the report that was shown last */
    unsigned busy;             /* polls in a row */
    uint64_t next_scan_ns;     /* when to search for a context again */
    uint64_t pause_ns;         /* between two searches */
    uint64_t next_threads_ns;  /* when to read the threads again */
    struct otelread_changes changes; /* of the threads */
    struct otelread_report report;
};

/* Reads the process once, and shows the report if it changed. */
void otelread_follow_poll(struct otelread_follow *follow,
                          struct otelread_output *output);

void otelread_follow_free(struct otelread_follow *follow);
