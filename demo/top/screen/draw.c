/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/draw.h"

#include "demo/reader/text/escape.h"

#include <string.h>

#define HOME       "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"
#define REVERSE    "\033[7m"
#define PLAIN      "\033[0m"

static void text(FILE *out, const char *line, unsigned width)
{
    const size_t size = strlen(line);

    if (otelread_escape_width(line, size) <= width)
        otelread_escape_print(out, line, size);
    else
        otelread_escape_print_start(out, line, size,
                                    width > 3 ? width - 3 : width);
}

static void end_line(FILE *out)
{
    (void)fputs(CLEAR_LINE "\r\n", out);
}

/* What is typed, or what is wrong with it, or what the looks cost. */
static void last_line(FILE *out, const struct oteltop_view *view,
                      const struct oteltop_frame *frame)
{
    char line[OTELTOP_TEXT_SIZE + 32];

    if (view->prompt)
        (void)snprintf(line, sizeof(line), "%s: %s_",
                       view->prompt == 'b' ? "rows" : "only with", view->text);
    else if (view->complaint)
        (void)snprintf(line, sizeof(line), "rows: %s", view->complaint);
    text(out, view->prompt || view->complaint ? line : frame->cost,
         frame->style.width);
    (void)fputs(CLEAR_LINE, out);
}

static void rows(FILE *out, struct oteltop_view *view,
                 const struct oteltop_frame *frame, size_t room)
{
    const size_t count = frame->rows->count;

    if (view->scroll + room > count)
        view->scroll = count > room ? count - room : 0;
    for (size_t i = 0; i < room; i++) {
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
        if (*line)
            text(out, *line++, frame->style.width);
        end_line(out);
    }
}

void oteltop_draw(FILE *out, struct oteltop_view *view,
                  const struct oteltop_frame *frame)
{
    const size_t room = frame->lines > 3 ? frame->lines - 3 : 1;

    (void)fputs(HOME, out);
    text(out, frame->title, frame->style.width);
    end_line(out);
    if (frame->style.colour)
        (void)fputs(REVERSE, out);
    oteltop_table_heading(out, &view->by, &frame->style);
    (void)fputs(CLEAR_LINE, out);
    if (frame->style.colour)
        (void)fputs(PLAIN, out);
    (void)fputs("\r\n", out);
    if (view->wants_help)
        help(out, frame, room);
    else
        rows(out, view, frame, room);
    last_line(out, view, frame);
    (void)fputs(CLEAR_REST, out);
    (void)fflush(out);
}
