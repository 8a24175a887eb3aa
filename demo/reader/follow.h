/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_FOLLOW_H
#define OTELREAD_FOLLOW_H

#include "demo/reader/show.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One process that is being watched. Begin with pid and quiet. */
struct otelread_follow {
    pid_t pid;
    bool quiet;   /* one of all: worth a word only once it had a context */
    bool started; /* there is a report */
    bool was_ok;  /* at some time */
    bool had_one; /* a context, good or bad, was told of */
    bool ended;   /* or may not be read: nothing more to come */
    enum otelread_status last; /* before the end */
    uint64_t born;             /* report.target.started of the first report */
    uint64_t digest;           /* of what was shown last */
    unsigned busy;             /* polls in a row */
    uint64_t next_scan_ns;     /* when to look for a context again */
    uint64_t pause_ns;         /* between two such looks */
    struct otelread_report report;
};

/* Looks once, and shows what changed since the last time. */
void otelread_follow_poll(struct otelread_follow *follow,
                          struct otelread_output *output);

void otelread_follow_free(struct otelread_follow *follow);

#endif
