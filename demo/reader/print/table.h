/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/report/report.h"

#include <stdio.h>

struct otelread_row;

/*
 * The lines of --list, which are kept until all are known, because their
 * columns are aligned. Begin with all zero.
 */
struct otelread_table {
    struct otelread_row *rows;
    size_t count;
    size_t room;
};

/*
 * Adds a process; threads is how many it has. Does nothing unless a context
 * was read. Returns 0 or -ENOMEM.
 */
int otelread_table_add(struct otelread_table *table,
                       const struct otelread_report *report, size_t threads);

/* Prints the header and the rows; nothing when there is no row. */
void otelread_table_print(FILE *out, const struct otelread_table *table);

void otelread_table_free(struct otelread_table *table);
