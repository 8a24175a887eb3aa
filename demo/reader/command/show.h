/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/print/table.h"
#include "demo/reader/report/report.h"

#include <stdbool.h>
#include <stdio.h>

/* otelread_text_print, otelread_json_print or otelread_raw_print. */
typedef void otelread_printer(FILE *out, const struct otelread_report *report);

/* How reports go to standard output. */
struct otelread_output {
    otelread_printer *print;
    struct otelread_table *table; /* --list: rows go there instead, or NULL */
    bool apart;                   /* an empty line between two reports */
    bool started;                 /* something was printed */
    bool failed; /* a write failed, as standard error says: give up */
};

/*
 * The report on standard output, flushed; its message and warnings on
 * standard error.
 */
void otelread_show(struct otelread_output *output,
                   const struct otelread_report *report);

/* The same of text that was printed before, elsewhere. */
void otelread_show_text(struct otelread_output *output, const char *text,
                        size_t size);

/* A line on standard error about one process, with its number in front. */
__attribute__((format(printf, 2, 3))) void
otelread_complain(pid_t pid, const char *format, ...);
