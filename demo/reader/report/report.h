/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/os/clock.h"
#include "demo/reader/os/target.h"
#include "demo/reader/report/contexts.h"
#include "demo/reader/report/status.h"
#include "demo/reader/report/threads.h"

#include <stdbool.h>

/* What was found out about one process. Begin with all zero. */
struct otelread_report {
    struct otelread_target target;
    enum otelread_status status;
    char message[512]; /* what is wrong, unless OK */
    struct otelread_contexts contexts;
    struct otelread_threads *threads; /* NULL unless they were requested */
    bool only_threads; /* a watcher has shown the contexts before */
};

/* Finds and reads the context of a process. */
void otelread_report_make(struct otelread_report *report, pid_t pid,
                          struct otelread_patience patience);

/*
 * Reads the contexts of the last report again, at their addresses. Calls
 * otelread_report_make() when they are gone or there were none.
 */
void otelread_report_update(struct otelread_report *report,
                            struct otelread_patience patience);

/*
 * Whether there are contexts, and each is what it was when it was read: one
 * read of eight bytes a context.
 * Rule: OTEP 4719, "Reading Protocol": while the timestamp is the same, so is
 * the context.
 */
bool otelread_report_is_unchanged(struct otelread_report *report);

/*
 * Reads the threads of a process whose report was made, and adds them to it, or
 * replaces those that it has. Returns 0 or -EAGAIN: meanwhile the process began
 * another program, or is ending, so the whole report is to be made again.
 */
int otelread_report_read_threads(struct otelread_report *report, bool stop);

/* The status of the process with that of its threads: what to exit with. */
enum otelread_status
otelread_report_exit_status(const struct otelread_report *report);

/*
 * Discards what was read, unless the process that the pid named at first still
 * has it: the pid may belong to another process meanwhile.
 */
void otelread_report_check(struct otelread_report *report);

/* Frees the payloads; otelread_report_update() still works. */
void otelread_report_trim(struct otelread_report *report);

void otelread_report_free(struct otelread_report *report);
