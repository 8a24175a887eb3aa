/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_REPORT_H
#define OTELREAD_REPORT_H

#include "demo/reader/context.h"
#include "demo/reader/status.h"
#include "demo/reader/target.h"

#include <stddef.h>

/* There must be one. More than these are counted, not read. */
#define OTELREAD_CONTEXTS_MAX 16

struct otelread_threads;

/* What was found out about one process. Begin with all zero. */
struct otelread_report {
    struct otelread_target target;
    enum otelread_status status;
    char message[512];                 /* what is wrong, unless OK */
    struct otelread_context *contexts; /* of the established mappings, or the
                                          one that was turned down */
    size_t count;
    size_t uncounted; /* established mappings beyond OTELREAD_CONTEXTS_MAX */
    bool no_memory;   /* a kernel thread, or a process about to end */
    struct otelread_threads *threads; /* NULL unless they were asked for */
};

/* Finds and reads the context of a process. */
void otelread_report_make(struct otelread_report *report, pid_t pid,
                          struct otelread_patience patience);

/*
 * Reads the contexts of the last report again, where they were then; when
 * they are gone, or there were none, as otelread_report_make().
 */
void otelread_report_update(struct otelread_report *report,
                            struct otelread_patience patience);

/*
 * What was read counts only when the number was one process's all along: else
 * that is all there is to report.
 */
void otelread_report_check(struct otelread_report *report);

/* Gives back the memory of payloads; what update needs stays. */
void otelread_report_trim(struct otelread_report *report);

void otelread_report_free(struct otelread_report *report);

/* Sets status and message. */
__attribute__((format(printf, 3, 4))) void
otelread_report_judge(struct otelread_report *report,
                      enum otelread_status status, const char *format, ...);

#endif
