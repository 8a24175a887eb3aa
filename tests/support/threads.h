/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Results of --threads, for the tests of its printers. */

#include "demo/reader/report/judge.h"
#include "demo/reader/report/report.h"

#include <stdio.h>

static struct otelread_threads threads;
static struct otelread_thread rows[4];

static inline struct otelread_thread row(pid_t tid, const char *name,
                                         enum otelread_thread_status status,
                                         const char *message)
{
    struct otelread_thread thread = {.tid = tid, .stat = {.state = 'S'}};

    snprintf(thread.stat.command, sizeof(thread.stat.command), "%s", name);
    otelread_judge(&thread, status, "%s", message);
    return thread;
}

/* A thread with a context, and three without details. */
static inline void threads_add(struct otelread_report *report)
{
    char why[128];
    static const uint8_t keys[] = "http.routeuser.id";

    threads = (struct otelread_threads){
        .manner = OTELREAD_STOPPED,
        .map = {.schema = {(const uint8_t *)"tls_v1", 6},
                .keys = {{keys, 10}, {NULL, 0}, {keys + 10, 7}},
                .count = 3},
        .has_symbol = true,
        .search.tls.symbol = {.access = OTELREAD_TLSDESC_STATIC,
                              .offset = -832,
                              .object = "/usr/lib/lib\x1b.so"},
        .sample = {.threads = rows, .count = 4},
    };
    rows[0] = row(4711, "python3", OTELREAD_THREAD_ATTACHED, "it is odd");
    rows[0].has_record = true;
    rows[0].record =
        (struct otelread_record){.address = 0x7f0000001000,
                                 .head = {.trace_id = {0x4b, 0xf9},
                                          .span_id = {0, 0xf0},
                                          .valid = 1,
                                          .trace_flags = 3,
                                          .attrs_size = 8},
                                 .attrs = "\x02\x02\"\xff\x00\x02/a"};
    otelread_record_decode(&rows[0].record, &threads.map, &rows[0].meaning, why,
                           sizeof(why));
    rows[0].stopped = true;
    rows[0].stopped_ns = 38999;
    rows[1] = row(4712, "w\n", OTELREAD_THREAD_DETACHED, "");
    rows[1].stopped = true;
    rows[2] = row(4713, "", OTELREAD_THREAD_NOT_STOPPED, "it sleeps");
    rows[3] = row(10000, "gone", OTELREAD_THREAD_UNREADABLE, "nowhere");
    rows[3].has_record = true;
    rows[3].record.address = 8;
    report->threads = &threads;
}
