/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/window.h"

#include "tests/unit/top/table/cells.h"

static const char detached[] = "detached";
static const char invalid[] = "invalid";

static const struct oteltop_cell *cell_of(const struct oteltop_window *window,
                                          const struct oteltop_sample *sample)
{
    const struct oteltop_cell *found = NULL;

    for (size_t i = 0; i < window->room; i++) {
        const struct oteltop_cell *const cell = &window->cells[i];

        if (cell->thread && cell->thread == sample->thread &&
            cell->span == sample->span && cell->none == sample->none &&
            cell->state == sample->state) {
            cr_expect_null(found, "a sample has one cell");
            found = cell;
        }
    }
    return found;
}

Test(window, samples_of_a_thread_with_a_span_and_a_state_are_added_up)
{
    struct oteltop_thread *const thread = cells_thread(1, "a", "shop");
    struct oteltop_span *const span = cells_span(thread, 1, NULL, 0);
    struct oteltop_window window = {.count = 0};
    struct oteltop_sample sample = {
        .thread = thread, .span = span, .state = 'R', .cpu_ns = 3};

    oteltop_window_add(&window, &sample);
    sample.cpu_ns = 4;
    sample.wall_ns = 10;
    sample.is_untrusted = true;
    oteltop_window_add(&window, &sample);
    cr_expect_eq(window.count, 1);

    const struct oteltop_cell *const cell = cell_of(&window, &sample);
    cr_assert_not_null(cell);
    cr_expect_eq(cell->cpu_ns, 7);
    cr_expect_eq(cell->wall_ns, 10);
    cr_expect_eq(cell->samples, 2);
    cr_expect_eq(cell->untrusted, 1);
    oteltop_window_free(&window);
    cells_free(thread);
}

Test(window, what_differs_is_kept_apart)
{
    struct oteltop_thread *const one = cells_thread(1, "a", "shop");
    struct oteltop_thread *const other = cells_thread(2, "a", "shop");
    struct oteltop_window window = {.count = 0};
    const struct oteltop_sample samples[] = {
        {.thread = one, .span = cells_span(one, 1, NULL, 0), .state = 'R'},
        {.thread = one, .span = cells_span(one, 2, NULL, 0), .state = 'R'},
        {.thread = one, .span = cells_span(one, 1, "/a", 0), .state = 'R'},
        {.thread = one, .span = cells_span(one, 1, NULL, 0), .state = 'S'},
        {.thread = one, .none = detached, .state = 'R'},
        {.thread = one, .none = invalid, .state = 'R'},
        {.thread = other, .none = detached, .state = 'R'},
    };
    const size_t count = sizeof(samples) / sizeof(samples[0]);

    for (size_t i = 0; i < count; i++)
        oteltop_window_add(&window, &samples[i]);
    cr_expect_eq(window.count, count, "%zu", window.count);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(cell_of(&window, &samples[i])->samples, 1);
    oteltop_window_free(&window);
    cells_free(one);
    cells_free(other);
}

Test(window, time_that_nobody_saw_is_no_sample)
{
    struct oteltop_thread *const thread = cells_thread(1, "a", "shop");
    struct oteltop_window window = {.count = 0};
    const struct oteltop_sample sample = {
        .thread = thread, .none = detached, .state = '?', .cpu_ns = 5};

    oteltop_window_add(&window, &sample);
    cr_expect_eq(cell_of(&window, &sample)->samples, 0);
    cr_expect_eq(cell_of(&window, &sample)->cpu_ns, 5);
    oteltop_window_free(&window);
    cells_free(thread);
}

Test(window, many_cells_are_found_again_as_the_table_grows)
{
    enum {
        THREADS = 3000
    };
    static struct oteltop_thread threads[THREADS];
    struct oteltop_window window = {.count = 0};

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < THREADS; i++)
            oteltop_window_add(&window,
                               &(struct oteltop_sample){.thread = &threads[i],
                                                        .none = detached,
                                                        .state = 'R',
                                                        .cpu_ns = i});
    }
    cr_expect_eq(window.count, THREADS);
    cr_expect_eq(window.lost, 0);
    for (size_t i = 0; i < THREADS; i++) {
        const struct oteltop_cell *const cell =
            cell_of(&window, &(struct oteltop_sample){.thread = &threads[i],
                                                      .none = detached,
                                                      .state = 'R'});

        cr_assert_not_null(cell);
        cr_expect_eq(cell->samples, 3);
        cr_expect_eq(cell->cpu_ns, 3 * i);
    }
    oteltop_window_free(&window);
}

Test(window, a_new_one_begins_where_the_one_before_ends)
{
    struct oteltop_thread *const thread = cells_thread(1, "a", "shop");
    const struct oteltop_sample sample = {
        .thread = thread, .none = detached, .state = 'R', .cpu_ns = 5};
    struct oteltop_window window = {.begin_ns = 3, .end_ns = 10};

    oteltop_window_clear(&window); /* as long as there is no table */
    oteltop_window_add(&window, &sample);
    window.end_ns = 20;
    oteltop_window_clear(&window);
    cr_expect_eq(window.count, 0);
    cr_expect_eq(window.begin_ns, 20);
    cr_expect_null(cell_of(&window, &sample));
    oteltop_window_add(&window, &sample);
    cr_expect_eq(cell_of(&window, &sample)->cpu_ns, 5);
    oteltop_window_free(&window);
    cells_free(thread);
}
