/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/draw.h"

#include "demo/base/escape.h"

#include <string.h>

#define HOME       "\033[H"
#define CLEAR_LINE "\033[K"
#define REVERSE    "\033[7m"

static void print_cut(FILE *out, const char *line, unsigned width)
{
    otelbase_escape_print_cut(out, line, strlen(line), width);
}

/* Clear the line before writing it: after a full line the cursor stays in the
 * last column, which clearing would erase. */
static void begin_line(FILE *out)
{
    (void)fputs(CLEAR_LINE, out);
}

static void end_line(FILE *out)
{
    (void)fputs("\r\n", out);
}

/* Prints what is typed, what is wrong with that, or the cost of the looks. */
static void last_line(FILE *out, const struct oteltop_view *view,
                      const struct oteltop_frame *frame)
{
    char line[OTELTOP_TEXT_SIZE + 32];

    if (view->prompt)
        (void)snprintf(line, sizeof(line), "%s: %s_",
                       view->prompt == 'b' ? "rows" : "only with", view->text);
    else if (view->complaint)
        (void)snprintf(line, sizeof(line), "rows: %s", view->complaint);
    begin_line(out);
    print_cut(out, view->prompt || view->complaint ? line : frame->cost,
              frame->style.width);
}

static void rows(FILE *out, struct oteltop_view *view,
                 const struct oteltop_frame *frame, size_t room)
{
    const size_t count = frame->rows->count;

    if (view->scroll + room > count)
        view->scroll = count > room ? count - room : 0;
    for (size_t i = 0; i < room; i++) {
        begin_line(out);
        if (view->scroll + i < count)
            oteltop_table_row(out, &frame->rows->list[view->scroll + i],
                              frame->passed_ns, &frame->style);
        end_line(out);
    }
}

static void help(FILE *out, const struct oteltop_frame *frame, size_t room)
{
    const char *const *line = oteltop_view_help;

    for (size_t i = 0; i < room; i++) {
        begin_line(out);
        if (*line)
            print_cut(out, *line++, frame->style.width);
        end_line(out);
    }
}

static void title(FILE *out, const struct oteltop_frame *frame)
{
    begin_line(out);
    print_cut(out, frame->title, frame->style.width);
    end_line(out);
}

static void heading(FILE *out, const struct oteltop_view *view,
                    const struct oteltop_frame *frame)
{
    begin_line(out);
    if (frame->style.colour)
        (void)fputs(REVERSE, out);
    oteltop_table_heading(out, &view->by, &frame->style);
    end_line(out);
}

void oteltop_draw(FILE *out, struct oteltop_view *view,
                  const struct oteltop_frame *frame)
{
    const size_t room = frame->lines > 3 ? frame->lines - 3 : 0;

    (void)fputs(HOME, out);
    if (frame->lines > 1)
        title(out, frame);
    if (frame->lines > 2)
        heading(out, view, frame);
    if (view->wants_help)
        help(out, frame, room);
    else
        rows(out, view, frame, room);
    last_line(out, view, frame);
    (void)fflush(out);
}
