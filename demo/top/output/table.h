/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/rows.h"

#include <stdbool.h>
#include <stdio.h>

struct oteltop_style {
    unsigned width; /* columns of the terminal; 0: lines are not cut */
    bool colour;
    bool untrusted;            /* with a column for untrusted samples */
    enum oteltop_column order; /* its heading is marked */
};

/* The line above the rows. */
void oteltop_table_heading(FILE *out, const struct oteltop_dimensions *by,
                           const struct oteltop_style *style);

/* One row, of samples taken in so many nanoseconds. */
void oteltop_table_row(FILE *out, const struct oteltop_row *row,
                       uint64_t passed_ns, const struct oteltop_style *style);
