/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/window.h"

#include "demo/base/hash.h"

#include <stdlib.h>
#include <string.h>

static bool is_of(const struct oteltop_cell *cell,
                  const struct oteltop_sample *sample)
{
    return cell->thread == sample->thread && cell->span == sample->span &&
           cell->none == sample->none && cell->state == sample->state;
}

static uint64_t hash_of(const struct oteltop_thread *thread,
                        const struct oteltop_span *span)
{
    uint64_t hash = otelbase_hash_number(OTELBASE_HASH, (uintptr_t)thread);

    return otelbase_hash_number(hash, (uintptr_t)span);
}

/* The cell of the sample: its own, or the empty cell for it. */
static struct oteltop_cell *find_cell(const struct oteltop_window *window,
                                      const struct oteltop_sample *sample)
{
    size_t at = hash_of(sample->thread, sample->span);

    for (;; at++) {
        struct oteltop_cell *const cell =
            &window->cells[at & (window->room - 1)];

        if (!cell->thread || is_of(cell, sample))
            return cell;
    }
}

static bool grow_cells(struct oteltop_window *window)
{
    struct oteltop_window larger = *window;

    larger.room = window->room == 0 ? 256 : 2 * window->room;
    larger.cells = calloc(larger.room, sizeof(*larger.cells));
    if (!larger.cells)
        return false;
    for (size_t i = 0; i < window->room; i++) {
        const struct oteltop_cell *const cell = &window->cells[i];
        const struct oteltop_sample key = {.thread = cell->thread,
                                           .span = cell->span,
                                           .none = cell->none,
                                           .state = cell->state};

        if (cell->thread)
            *find_cell(&larger, &key) = *cell;
    }
    free(window->cells);
    *window = larger;
    return true;
}

void oteltop_window_add(struct oteltop_window *window,
                        const struct oteltop_sample *sample)
{
    if (2 * window->count >= window->room && !grow_cells(window)) {
        window->lost++;
        return;
    }

    struct oteltop_cell *const cell = find_cell(window, sample);
    if (!cell->thread) {
        *cell = (struct oteltop_cell){.thread = sample->thread,
                                      .span = sample->span,
                                      .none = sample->none,
                                      .state = sample->state};
        window->count++;
    }
    cell->cpu_ns += sample->cpu_ns;
    cell->wall_ns += sample->wall_ns;
    cell->samples += sample->state == '?' ? 0 : 1;
    cell->untrusted += sample->is_untrusted ? 1 : 0;
}

void oteltop_window_clear(struct oteltop_window *window)
{
    if (window->room > 0)
        (void)memset(window->cells, 0, window->room * sizeof(*window->cells));
    window->count = 0;
    window->begin_ns = window->end_ns;
}

void oteltop_window_free(struct oteltop_window *window)
{
    free(window->cells);
    *window = (struct oteltop_window){.count = 0};
}
