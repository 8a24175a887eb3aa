/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/cells.h"

#include "tests/unit/top/output/samples.h"

#define PROCESSES ((size_t)5)
#define THREADS   ((size_t)4) /* of each process */
#define SPANS     ((size_t)3) /* of each thread */

static struct oteltop_window window;
static struct oteltop_process *processes[PROCESSES];
static struct oteltop_thread *threads[PROCESSES * THREADS];
static struct oteltop_span *spans[PROCESSES * THREADS * SPANS];

static void make(void)
{
    for (size_t i = 0; i < PROCESSES; i++)
        processes[i] = process_make(1000 - (pid_t)i, NULL);
    for (size_t i = 0; i < PROCESSES * THREADS; i++)
        threads[i] = oteltop_thread_new(processes[i / THREADS], 2000 - (pid_t)i,
                                        "thread");
    for (size_t i = 0; i < PROCESSES * THREADS * SPANS; i++)
        spans[i] =
            span_make(processes[i / THREADS / SPANS], (uint8_t)(200 - i), NULL);
}

static void free_all(void)
{
    oteltop_window_free(&window);
    for (size_t i = 0; i < PROCESSES * THREADS; i++)
        oteltop_thread_free(threads[i]);
    for (size_t i = 0; i < PROCESSES; i++)
        oteltop_process_free(processes[i]);
}

TestSuite(top_cells, .init = make, .fini = free_all);

static void expect_next(const struct oteltop_cells *cells, size_t *at,
                        const struct oteltop_thread *thread,
                        const struct oteltop_span *span, char state)
{
    const struct oteltop_cell *const cell = cells->list[(*at)++];

    cr_expect_eq(cell->thread, thread);
    cr_expect_eq(cell->span, span);
    cr_expect_eq(cell->state, state);
}

Test(top_cells, they_are_in_the_order_in_which_things_were_seen_first)
{
    struct oteltop_cells cells;
    size_t at = 0;

    for (size_t i = PROCESSES * THREADS * SPANS; i-- > 0;) {
        add(&window, threads[i / SPANS], spans[i], 'R', 1);
        add(&window, threads[i / SPANS], spans[i], 'D', 1);
    }
    for (size_t i = 0; i < PROCESSES * THREADS; i++)
        add(&window, threads[i], NULL, 'R', 1);

    cr_assert_eq(oteltop_cells_sort(&cells, &window), 0);
    cr_assert_eq(cells.count, PROCESSES * THREADS * (1 + 2 * SPANS));
    for (size_t i = 0; i < PROCESSES * THREADS; i++) {
        expect_next(&cells, &at, threads[i], NULL, 'R');
        for (size_t j = i * SPANS; j < (i + 1) * SPANS; j++) {
            expect_next(&cells, &at, threads[i], spans[j], 'D');
            expect_next(&cells, &at, threads[i], spans[j], 'R');
        }
    }
    free(cells.list);
}

Test(top_cells, there_may_be_none)
{
    struct oteltop_cells cells;

    cr_assert_eq(oteltop_cells_sort(&cells, &window), 0);
    cr_expect_eq(cells.count, 0);
    free(cells.list);
}
