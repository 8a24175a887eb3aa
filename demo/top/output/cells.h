/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/window.h"

#include <stddef.h>

/* The cells of a window. The caller frees the list. */
struct oteltop_cells {
    const struct oteltop_cell **list;
    size_t count;
};

/* Sorts the cells by process, thread, span and state. Returns 0 or -ENOMEM. */
int oteltop_cells_sort(struct oteltop_cells *out,
                       const struct oteltop_window *window);
