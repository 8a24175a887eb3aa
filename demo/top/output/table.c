/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/table.h"

#include "demo/base/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

/* The columns in front of the values. */
static const struct {
    const char *name;
    enum oteltop_column column;
    int width;
} columns[] = {
    {"CPU%", OTELTOP_CPU, 6},           {"WALL%", OTELTOP_WALL, 7},
    {"SAMPLES", OTELTOP_SAMPLES, 8},    {"UNSURE", OTELTOP_UNTRUSTED, 7},
    {"THREADS", OTELTOP_THREADS, 8},    {"PROCS", OTELTOP_PROCESSES, 6},
    {"LONGEST", OTELTOP_LONGEST_NS, 8},
};

#define VALUE_WIDTH 32

static void print_length(char *out, size_t size, uint64_t length_ns)
{
    const double ms = (double)length_ns / 1e6;

    if (length_ns == 0)
        (void)snprintf(out, size, "-");
    else if (ms < 1000)
        (void)snprintf(out, size, "%.0fms", ms);
    else if (ms < 100000)
        (void)snprintf(out, size, "%.1fs", ms / 1e3);
    else
        (void)snprintf(out, size, "%.0fs", ms / 1e3);
}

static void print_number(char *out, size_t size, enum oteltop_column column,
                         uint64_t number, uint64_t passed_ns)
{
    const double percent =
        passed_ns > 0 ? 100.0 * (double)number / (double)passed_ns : 0.0;

    if (column == OTELTOP_LONGEST_NS)
        print_length(out, size, number);
    else if (column == OTELTOP_CPU || column == OTELTOP_WALL)
        (void)snprintf(out, size, percent < 1000 ? "%.1f" : "%.0f", percent);
    else
        (void)snprintf(out, size, "%" PRIu64, number);
}

/* A line is built whole, then cut at the terminal's width. */
static void print_line(FILE *out, const char *line, size_t size, unsigned width)
{
    if (width == 0)
        otelbase_escape_print(out, line, size);
    else
        otelbase_escape_print_cut(out, line, size, width);
}

void oteltop_table_heading(FILE *out, const struct oteltop_dimensions *by,
                           const struct oteltop_style *style)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const text = open_memstream(&line, &size);

    if (!text)
        return;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        char name[16];

        if (columns[i].column == OTELTOP_UNTRUSTED && !style->untrusted)
            continue;
        (void)snprintf(name, sizeof(name), "%s%s",
                       columns[i].column == style->order ? "*" : "",
                       columns[i].name);
        (void)fprintf(text, "%*s", columns[i].width, name);
    }
    (void)fputs("  ", text);
    for (size_t i = 0; i < by->count; i++)
        (void)fprintf(text, "%s%s", i == 0 ? "" : " > ", by->names[i]);
    (void)fclose(text);
    (void)fputs(style->colour ? BOLD : "", out);
    print_line(out, line, size, style->width);
    (void)fputs(style->colour ? PLAIN : "", out);
    free(line);
}

void oteltop_table_row(FILE *out, const struct oteltop_row *row,
                       uint64_t passed_ns, const struct oteltop_style *style)
{
    const size_t indent = 2 * row->depth;
    const size_t width = otelbase_escape_width(row->value, strlen(row->value));
    char *line = NULL;
    size_t size = 0;
    FILE *const text = open_memstream(&line, &size);

    if (!text)
        return;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const enum oteltop_column column = columns[i].column;
        char number[32];

        if (column == OTELTOP_UNTRUSTED && !style->untrusted)
            continue;
        print_number(number, sizeof(number), column, row->numbers[column],
                     passed_ns);
        (void)fprintf(text, " %*s", columns[i].width - 1, number);
    }
    (void)fprintf(text, "  %*s%s", (int)indent, "", row->value);
    (void)fprintf(
        text, "%*s  %s",
        indent + width < VALUE_WIDTH ? VALUE_WIDTH - (int)(indent + width) : 0,
        "", row->command);
    (void)fclose(text);
    while (size > 0 && line[size - 1] == ' ')
        size--;
    if (style->colour)
        (void)fputs(row->depth == 0        ? BOLD
                    : row->value[0] == '(' ? FAINT
                                           : "",
                    out);
    print_line(out, line, size, style->width);
    (void)fputs(style->colour ? PLAIN : "", out);
    free(line);
}
