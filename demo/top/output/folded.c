/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/folded.h"

#include "demo/base/escape.h"

#include <inttypes.h>
#include <string.h>

/* A frame must hold neither the character that ends a frame nor the one that
 * ends a line. */
static void frame_print(FILE *out, const char *value)
{
    while (*value != '\0') {
        const size_t size = strcspn(value, ";");

        otelbase_escape_print(out, value, size);
        value += size;
        if (*value == ';') {
            (void)putc(':', out);
            value++;
        }
    }
}

static void stack_print(FILE *out, const struct oteltop_rows *rows,
                        const struct oteltop_row *row)
{
    if (row->depth > 0) {
        stack_print(out, rows, &rows->list[row->parent]);
        (void)putc(';', out);
    }
    frame_print(out, row->value);
}

/* A row without rows of the next depth is a leaf. */
static bool is_leaf(const struct oteltop_rows *rows, size_t at)
{
    return at + 1 == rows->count ||
           rows->list[at + 1].depth <= rows->list[at].depth;
}

void oteltop_folded_print(FILE *out, const struct oteltop_rows *rows, bool wall)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct oteltop_row *const row = &rows->list[i];
        const uint64_t us =
            row->numbers[wall ? OTELTOP_WALL : OTELTOP_CPU] / 1000;

        if (!is_leaf(rows, i) || us == 0)
            continue;
        stack_print(out, rows, row);
        (void)fprintf(out, " %" PRIu64 "\n", us);
    }
}
