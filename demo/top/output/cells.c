/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/cells.h"

#include <errno.h>
#include <stdlib.h>

static int compare_numbers(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
    const struct oteltop_cell *const left =
        *(const struct oteltop_cell *const *)a;
    const struct oteltop_cell *const right =
        *(const struct oteltop_cell *const *)b;
    int order = compare_numbers(left->thread->process->number,
                                right->thread->process->number);

    if (order == 0)
        order = compare_numbers(left->thread->number, right->thread->number);
    if (order == 0)
        order = compare_numbers(left->span ? left->span->number : 0,
                                right->span ? right->span->number : 0);
    return order != 0 ? order : left->state - right->state;
}

int oteltop_cells_sort(struct oteltop_cells *out,
                       const struct oteltop_window *window)
{
    *out = (struct oteltop_cells){
        .list = calloc(window->count + 1, sizeof(*out->list))};
    if (!out->list)
        return -ENOMEM;
    for (size_t i = 0; i < window->room; i++) {
        if (window->cells[i].thread)
            out->list[out->count++] = &window->cells[i];
    }
    qsort(out->list, out->count, sizeof(*out->list), compare);
    return 0;
}
