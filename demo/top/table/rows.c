/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells in the order of their values --------------------------------- */

struct line {
    const struct oteltop_cell *cell;
    char *values[OTELTOP_DIMENSIONS_MAX];
};

struct lines {
    struct line *list;
    size_t count;
    size_t depth;
};

static int compare_lines(const void *a, const void *b)
{
    const struct line *const left = a;
    const struct line *const right = b;
    int order = 0;

    for (size_t i = 0; i < OTELTOP_DIMENSIONS_MAX && left->values[i]; i++) {
        order = strcmp(left->values[i], right->values[i]);
        if (order != 0)
            return order;
    }
    return order;
}

static bool has_text(const struct line *line, size_t depth, const char *text)
{
    for (size_t i = 0; i < depth; i++) {
        if (strstr(line->values[i], text))
            return true;
    }
    return !text[0];
}

static void line_free(struct line *line)
{
    for (size_t i = 0; i < OTELTOP_DIMENSIONS_MAX; i++)
        free(line->values[i]);
}

static void lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        line_free(&lines->list[i]);
    free(lines->list);
}

static int line_make(struct line *line, const struct oteltop_cell *cell,
                     const struct oteltop_dimensions *by)
{
    char room[OTELTOP_VALUE_SIZE];

    *line = (struct line){.cell = cell};
    for (size_t i = 0; i < by->count; i++) {
        line->values[i] =
            strdup(oteltop_dimension_value(by->names[i], cell, room));
        if (!line->values[i]) {
            line_free(line);
            return -ENOMEM;
        }
    }
    return 0;
}

static int lines_make(struct lines *lines, const struct oteltop_window *window,
                      const struct oteltop_dimensions *by, const char *filter)
{
    *lines =
        (struct lines){.list = calloc(window->count + 1, sizeof(*lines->list)),
                       .depth = by->count};
    if (!lines->list)
        return -ENOMEM;
    for (size_t i = 0; i < window->room; i++) {
        struct line *const line = &lines->list[lines->count];

        if (!window->cells[i].thread)
            continue;
        if (line_make(line, &window->cells[i], by) != 0) {
            lines_free(lines);
            return -ENOMEM;
        }
        if (filter && !has_text(line, by->count, filter))
            line_free(line);
        else
            lines->count++;
    }
    if (lines->count > 0)
        qsort(lines->list, lines->count, sizeof(*lines->list), compare_lines);
    return 0;
}

/* ---- rows --------------------------------------------------------------- */

/* How many leading values two lines have in common. */
static size_t common(const struct line *a, const struct line *b, size_t depth)
{
    size_t same = 0;

    while (same < depth && strcmp(a->values[same], b->values[same]) == 0)
        same++;
    return same;
}

static void add_numbers(struct oteltop_row *row,
                        const struct oteltop_cell *cell)
{
    row->numbers[OTELTOP_CPU] += cell->cpu_ns;
    row->numbers[OTELTOP_WALL] += cell->wall_ns;
    row->numbers[OTELTOP_SAMPLES] += cell->samples;
    row->numbers[OTELTOP_UNTRUSTED] += cell->untrusted;
    if (cell->span) {
        const uint64_t length_ns = cell->span->last_ns - cell->span->first_ns;

        if (length_ns > row->numbers[OTELTOP_LONGEST_NS])
            row->numbers[OTELTOP_LONGEST_NS] = length_ns;
    }
}

/* Keeps the process with the most time: it keeps the row's mark. */
static void mark_busiest(struct oteltop_row *row, unsigned mark,
                         const struct oteltop_cell *cell)
{
    struct oteltop_process *const process = cell->thread->process;

    if (process->mark != mark)
        process->marked_cpu_ns = 0;
    process->mark = mark;
    process->marked_cpu_ns += cell->cpu_ns;
    if (!row->process || process->marked_cpu_ns > row->process_cpu_ns) {
        row->process = process;
        row->process_cpu_ns = process->marked_cpu_ns;
    }
}

static int compare_ids(const void *a, const void *b)
{
    const pid_t left = *(const pid_t *)a;
    const pid_t right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

static uint64_t count_distinct(pid_t *ids, size_t count)
{
    uint64_t distinct = 0;

    qsort(ids, count, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || ids[i] != ids[i - 1];
    return distinct;
}

/* Compares by id: a process that describes itself anew is the same process. */
static void count_threads(struct oteltop_row *row, const struct line *lines,
                          size_t count, pid_t *room)
{
    for (size_t i = 0; i < count; i++)
        room[i] = lines[i].cell->thread->tid;
    row->numbers[OTELTOP_THREADS] = count_distinct(room, count);
    for (size_t i = 0; i < count; i++)
        room[i] = lines[i].cell->thread->process->pid;
    row->numbers[OTELTOP_PROCESSES] = count_distinct(room, count);
}

/* The rows of one depth, in the order of the lines. */
static void fill(struct oteltop_rows *rows, const struct lines *lines,
                 size_t depth, const size_t *row_of, pid_t *room)
{
    static unsigned mark;
    size_t end;

    for (size_t i = 0; i < lines->count; i = end) {
        const size_t at = row_of[i * lines->depth + depth];
        struct oteltop_row *const row = &rows->list[at];

        mark++;
        for (end = i;
             end < lines->count && row_of[end * lines->depth + depth] == at;
             end++) {
            add_numbers(row, lines->list[end].cell);
            mark_busiest(row, mark, lines->list[end].cell);
        }
        count_threads(row, lines->list + i, end - i, room);
    }
}

/* Adds the rows that a line does not share with the one before it. */
static int add_rows(struct oteltop_rows *rows, const struct lines *lines,
                    size_t at, size_t *row_of)
{
    const struct line *const line = &lines->list[at];
    size_t *const mine = row_of + at * lines->depth;
    const size_t same = at == 0 ? 0 : common(line - 1, line, lines->depth);

    if (same > 0)
        memcpy(mine, mine - lines->depth, same * sizeof(*mine));
    for (size_t depth = same; depth < lines->depth; depth++) {
        struct oteltop_row *const row = &rows->list[rows->count];

        *row = (struct oteltop_row){.value = strdup(line->values[depth]),
                                    .depth = depth,
                                    .parent = depth == 0 ? rows->count
                                                         : mine[depth - 1]};
        if (!row->value)
            return -ENOMEM;
        mine[depth] = rows->count++;
    }
    return 0;
}

/* Copies the command: rows are shown for longer than processes live. */
static int take_command(struct oteltop_row *row)
{
    const struct oteltop_process *const process = row->process;

    row->command = strdup(process && process->command ? process->command : "");
    row->process = NULL;
    return row->command ? 0 : -ENOMEM;
}

/* ---- their order -------------------------------------------------------- */

struct order {
    const struct oteltop_rows *rows;
    enum oteltop_column column;
};

/* The ancestor of that depth; it may be the row itself. */
static const struct oteltop_row *ancestor(const struct oteltop_rows *rows,
                                          const struct oteltop_row *row,
                                          size_t depth)
{
    while (row->depth > depth)
        row = &rows->list[row->parent];
    return row;
}

/* Compares the ancestors that differ. A row precedes its descendants. */
static int compare_rows(const void *a, const void *b, void *opaque)
{
    const struct order *const order = opaque;
    const struct oteltop_row *const left =
        &order->rows->list[*(const size_t *)a];
    const struct oteltop_row *const right =
        &order->rows->list[*(const size_t *)b];

    for (size_t depth = 0; depth <= left->depth && depth <= right->depth;
         depth++) {
        const struct oteltop_row *const x = ancestor(order->rows, left, depth);
        const struct oteltop_row *const y = ancestor(order->rows, right, depth);
        const uint64_t of_x = x->numbers[order->column];
        const uint64_t of_y = y->numbers[order->column];

        if (x != y)
            return of_x != of_y ? (of_x < of_y) - (of_x > of_y)
                                : (x > y) - (x < y);
    }
    return (left->depth > right->depth) - (left->depth < right->depth);
}

int oteltop_rows_sort(struct oteltop_rows *rows, enum oteltop_column column)
{
    struct order order = {.rows = rows, .column = column};
    size_t *const indexes = calloc(rows->count + 1, sizeof(*indexes));
    struct oteltop_row *const sorted = calloc(rows->count + 1, sizeof(*sorted));

    if (!indexes || !sorted) {
        free(indexes);
        free(sorted);
        return -ENOMEM;
    }
    for (size_t i = 0; i < rows->count; i++)
        indexes[i] = i;
    if (rows->count > 0)
        qsort_r(indexes, rows->count, sizeof(*indexes), compare_rows, &order);
    for (size_t i = 0; i < rows->count; i++) {
        struct oteltop_row *const row = &sorted[i];

        *row = rows->list[indexes[i]];
        /* The previous row is the parent, a sibling, or a descendant of one. */
        row->parent = i;
        if (row->depth > 0)
            row->parent = i - 1;
        while (sorted[row->parent].depth >= row->depth && row->depth > 0)
            row->parent = sorted[row->parent].parent;
    }
    free(indexes);
    free(rows->list);
    rows->list = sorted;
    return 0;
}

int oteltop_rows_make(struct oteltop_rows *rows,
                      const struct oteltop_window *window,
                      const struct oteltop_dimensions *by,
                      enum oteltop_column order, const char *filter)
{
    struct lines lines;
    int error = lines_make(&lines, window, by, filter);

    *rows = (struct oteltop_rows){.count = 0};
    if (error != 0)
        return error;

    const size_t most = lines.count * lines.depth + 1;
    size_t *const row_of = calloc(most, sizeof(*row_of));
    pid_t *const room = calloc(lines.count + 1, sizeof(*room));
    rows->list = calloc(most, sizeof(*rows->list));
    if (!row_of || !rows->list || !room)
        error = -ENOMEM;
    for (size_t i = 0; i < lines.count && error == 0; i++)
        error = add_rows(rows, &lines, i, row_of);
    for (size_t depth = 0; depth < lines.depth && error == 0; depth++)
        fill(rows, &lines, depth, row_of, room);
    for (size_t i = 0; i < rows->count && error == 0; i++)
        error = take_command(&rows->list[i]);
    if (error == 0)
        error = oteltop_rows_sort(rows, order);
    free(row_of);
    free(room);
    lines_free(&lines);
    if (error != 0)
        oteltop_rows_free(rows);
    return error;
}

bool oteltop_rows_are_untrusted(const struct oteltop_rows *rows)
{
    bool are_untrusted = false;

    for (size_t i = 0; i < rows->count; i++)
        are_untrusted |= rows->list[i].numbers[OTELTOP_UNTRUSTED] > 0;
    return are_untrusted;
}

void oteltop_rows_free(struct oteltop_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        free(rows->list[i].value);
        free(rows->list[i].command);
    }
    free(rows->list);
    *rows = (struct oteltop_rows){.count = 0};
}
