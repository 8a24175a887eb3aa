/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/screen/draw.h"

#include "tests/unit/top/table/cells.h"

#include <locale.h>
#include <wchar.h>

enum {
    LINES_MAX = 300,
    LINE_SIZE = 4096
};

static struct oteltop_view view;
static struct oteltop_rows rows;
static struct oteltop_frame frame;
static char *drawn;
static char lines[LINES_MAX][LINE_SIZE];
static size_t count;

static const char *const hostile[] = {
    "/cart",
    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe9\x81\x93",
    "\xf0\x9f\x98\x80\xf0\x9f\x9b\x92 emoji",
    "\033[2J\033]0;title\007 sequences",
    "\r\n\t\x7f controls",
    "\xc2\x9b"
    "31m C1",
    "\xe2\x80\xae override", /* NOLINT(misc-misleading-bidirectional) */
    "\xff\xfe not UTF-8",
    "a very long value, longer than any terminal is wide, and then some more "
    "of it, and more, and more, and more, and more, and more, and more, until "
    "there is no more of it left to be told, or to be shown",
};

static void begin(void)
{
    struct oteltop_window window = {.end_ns = 1000000000};
    struct oteltop_thread *const thread =
        cells_thread(4711, "\xe6\x97\xa5/prog\033[31mram \xe6\x97\xa5", "shop");

    (void)setlocale(LC_ALL, "C.UTF-8");
    view = (struct oteltop_view){.order = OTELTOP_CPU};
    cr_assert_eq(oteltop_dimensions_parse(&view.by, "service,http.route"), 0);
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
        oteltop_window_add(&window,
                           &(struct oteltop_sample){
                               .thread = thread,
                               .span = cells_span(thread, (uint8_t)(i + 1),
                                                  hostile[i], 1000000),
                               .state = 'R',
                               .cpu_ns = (i + 1) * 10000000});
    cr_assert_eq(oteltop_rows_make(&rows, &window, &view.by, OTELTOP_CPU, NULL),
                 0);
    oteltop_window_free(&window);
    cells_free(thread);
    frame = (struct oteltop_frame){
        .rows = &rows,
        .passed_ns = 1000000000,
        .title = "otelctx-top  12:34:56  1 processes  only with: \xe6\x97\xa5",
        .cost = "99 looks a second; 0 stops a second, of 0 us each (at most 0 "
                "us): 0.00 % of a processor",
        .style = {.width = 80, .order = OTELTOP_CPU},
        .lines = 24};
}

static void end(void)
{
    oteltop_rows_free(&rows);
    oteltop_dimensions_free(&view.by);
    free(drawn);
    drawn = NULL;
}

TestSuite(draw, .init = begin, .fini = end);

/* Lines without the sequences, of which only the known ones may be there. */
static void draw(void)
{
    static const char *const known[] = {"\033[H",  "\033[K",  "\033[7m",
                                        "\033[1m", "\033[2m", "\033[0m"};
    const char *at;
    size_t size;
    size_t used = 0;

    free(drawn);
    FILE *const out = open_memstream(&drawn, &size);
    oteltop_draw(out, &view, &frame);
    (void)fclose(out);
    memset(lines, 0, sizeof(lines));
    count = 1;
    for (at = drawn; *at != '\0';) {
        bool is_known = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (strncmp(at, known[i], strlen(known[i])) == 0) {
                at += strlen(known[i]);
                is_known = true;
                break;
            }
        }
        if (is_known)
            continue;
        cr_assert_neq(*at, '\033', "an unknown sequence: %.10s", at + 1);
        if (strncmp(at, "\r\n", 2) == 0) {
            at += 2;
            count++;
            used = 0;
            cr_assert_lt(count, LINES_MAX);
        } else {
            cr_assert((unsigned char)*at >= ' ' && *at != '\177');
            lines[count - 1][used++] = *at++;
        }
    }
}

/* As the C library says, which knows nothing of this program. */
static int width(const char *line)
{
    wchar_t wide[LINE_SIZE];
    const size_t size = mbstowcs(wide, line, LINE_SIZE);

    cr_assert_neq(size, (size_t)-1, "not UTF-8: %s", line);
    return wcswidth(wide, size);
}

Test(draw, a_frame_has_a_title_a_heading_rows_and_the_cost)
{
    draw();
    cr_expect_eq(count, 24);
    cr_expect_str_eq(lines[0], frame.title);
    cr_expect_not_null(strstr(lines[1], "*CPU%"));
    cr_expect_not_null(strstr(lines[1], "service > http.route"));
    cr_expect_not_null(strstr(lines[2], "  shop  "));
    cr_expect_not_null(strstr(lines[2 + 9], "    /cart  "));
    cr_expect_str_eq(lines[12], "");
    cr_expect_eq(strncmp(lines[23], "99 looks a second", 17), 0);
}

Test(draw, no_frame_is_larger_than_its_terminal)
{
    static const unsigned widths[] = {1,  2,  3,  4,  5,  10,  39,  40,
                                      41, 60, 79, 80, 81, 100, 132, 200};
    static const unsigned heights[] = {1, 2, 3, 4, 5, 10, 24, 50, 250};

    for (int colour = 0; colour < 2; colour++)
        for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
            for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
                frame.style.width = widths[w];
                frame.style.colour = colour;
                frame.lines = heights[h];
                draw();
                cr_expect_eq(count, heights[h]);
                for (size_t i = 0; i < count; i++)
                    cr_expect(width(lines[i]) >= 0 &&
                                  width(lines[i]) <= (int)widths[w],
                              "%u columns: %s", widths[w], lines[i]);
            }
}

Test(draw, a_line_that_is_cut_ends_with_dots_and_fills_the_terminal)
{
    frame.style.width = 60;
    draw();
    cr_expect_str_eq(lines[23], "99 looks a second; 0 stops a second, of 0 us "
                                "each (at mos...");
    cr_expect_eq(width(lines[23]), 60);
}

/* Else the column behind the last one would be cleared, which is the last. */
Test(draw, lines_are_cleared_before_they_are_written)
{
    draw();
    for (const char *at = drawn; (at = strstr(at, "\033[K")); at++)
        cr_expect(at == drawn + strlen("\033[H") || at[-1] == '\n');
}

Test(draw, columns_are_in_line_whatever_the_width_of_a_value)
{
    const char *command;
    int column = -1;

    frame.style.width = 200;
    draw();
    for (size_t i = 2; i < 12; i++) {
        command = strstr(lines[i], "\xe6\x97\xa5/prog");
        if (!command || strstr(lines[i], "a very long") ||
            strstr(lines[i], "sequences"))
            continue;
        lines[i][command - lines[i]] = '\0';
        if (column < 0)
            column = width(lines[i]);
        cr_expect_eq(width(lines[i]), column, "%s", lines[i]);
    }
    cr_expect_gt(column, 32);
}

Test(draw, scrolling_ends_at_the_last_row)
{
    frame.lines = 8;
    view.scroll = 1000;
    draw();
    cr_expect_eq(view.scroll, rows.count - 5);
    cr_expect_not_null(strstr(lines[6], "/cart"));
    view.scroll = 1;
    draw();
    cr_expect_eq(view.scroll, 1);
    frame.lines = 24;
    draw();
    cr_expect_eq(view.scroll, 0);
}

Test(draw, the_last_line_is_what_is_typed_or_wrong)
{
    view.prompt = '/';
    strcpy(view.text, "sh\xe6\x97\xa5");
    draw();
    cr_expect_str_eq(lines[23], "only with: sh\xe6\x97\xa5_");
    view.prompt = 'b';
    draw();
    cr_expect_str_eq(lines[23], "rows: sh\xe6\x97\xa5_");
    view.prompt = 0;
    view.complaint = "wrong";
    draw();
    cr_expect_str_eq(lines[23], "rows: wrong");
}

Test(draw, help_replaces_the_rows)
{
    view.wants_help = true;
    draw();
    cr_expect_eq(count, 24);
    for (size_t i = 0; oteltop_view_help[i]; i++)
        cr_expect_str_eq(lines[2 + i], oteltop_view_help[i]);
    frame.lines = 5;
    draw();
    cr_expect_str_eq(lines[3], oteltop_view_help[1]);
    cr_expect_eq(count, 5);
}

Test(draw, there_are_no_colours_without_colour)
{
    draw();
    cr_expect_null(strstr(drawn, "\033[1m"));
    cr_expect_null(strstr(drawn, "\033[7m"));
    frame.style.colour = true;
    draw();
    cr_expect_not_null(strstr(drawn, "\033[1m"));
    cr_expect_not_null(strstr(drawn, "\033[7m"));
}

Test(draw, the_column_of_untrusted_samples_is_there_on_demand)
{
    draw();
    cr_expect_null(strstr(lines[1], "UNSURE"));
    frame.style.untrusted = true;
    draw();
    cr_expect_not_null(strstr(lines[1], "UNSURE"));
}
