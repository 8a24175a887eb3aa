/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/dimension.h"
#include "demo/top/table/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum oteltop_column {
    OTELTOP_CPU,
    OTELTOP_WALL,
    OTELTOP_SAMPLES,
    OTELTOP_UNTRUSTED,
    OTELTOP_THREADS,
    OTELTOP_PROCESSES,
    OTELTOP_LONGEST_NS,
    OTELTOP_COLUMNS
};

/* A row of the tree, which follows its parent. */
struct oteltop_row {
    char *value;
    size_t depth;                      /* 0: of the first dimension */
    uint64_t numbers[OTELTOP_COLUMNS]; /* CPU and WALL in ns */
    char *command; /* command of the process with most CPU */
    const struct oteltop_process *process; /* that process */
    uint64_t process_cpu_ns;
    size_t parent; /* the parent's index, or the row's own */
};

struct oteltop_rows {
    struct oteltop_row *list;
    size_t count;
};

/*
 * The samples by these dimensions, each group in descending order of a column.
 * Only those with the filter in one of their values, if it is not NULL. Returns
 * 0 or -ENOMEM.
 */
int oteltop_rows_make(struct oteltop_rows *rows,
                      const struct oteltop_window *window,
                      const struct oteltop_dimensions *by,
                      enum oteltop_column order, const char *filter);

/* Changes the order. Returns 0 or -ENOMEM; the order is then unchanged. */
int oteltop_rows_sort(struct oteltop_rows *rows, enum oteltop_column order);

/* Whether some sample of the rows was read while its thread ran. */
bool oteltop_rows_are_untrusted(const struct oteltop_rows *rows);

void oteltop_rows_free(struct oteltop_rows *rows);
