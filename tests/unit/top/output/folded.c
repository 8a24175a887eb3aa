/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/folded.h"

#include "tests/unit/top/output/samples.h"

static struct oteltop_window window;
static struct oteltop_process *process;
static struct oteltop_thread *thread;

static void setup(void)
{
    process =
        process_make(42, (const char *const[]){"service.name", "shop", NULL});
    thread = oteltop_thread_new(process, 43, "worker");
}

static void teardown(void)
{
    oteltop_window_free(&window);
    oteltop_thread_free(thread);
    oteltop_process_free(process);
}

TestSuite(top_folded, .init = setup, .fini = teardown);

static struct oteltop_span *route(const char *value)
{
    static uint8_t byte;

    return span_make(process, ++byte,
                     (const char *const[]){"http.route", value, NULL});
}

static void expect_folded(const char *names, bool wall, const char *expected)
{
    struct oteltop_dimensions dimensions = by(names);
    struct oteltop_rows rows;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    cr_assert_eq(
        oteltop_rows_make(&rows, &window, &dimensions, OTELTOP_CPU, NULL), 0);
    oteltop_folded_print(out, &rows, wall);
    (void)fclose(out);
    cr_expect_str_eq(text, expected);
    free(text);
    oteltop_rows_free(&rows);
    oteltop_dimensions_free(&dimensions);
}

Test(top_folded, a_line_is_a_stack_and_microseconds_of_processor_time)
{
    add(&window, thread, route("/cart"), 'R', 5000000);
    add(&window, thread, route("/items"), 'R', 3000000);
    add(&window, thread, NULL, 'D', 2000000);
    expect_folded("service,http.route,thread,state", false,
                  "shop;/cart;worker 43;R 5000\n"
                  "shop;/items;worker 43;R 3000\n"
                  "shop;(no span);worker 43;D 2000\n");
}

Test(top_folded, a_stack_is_there_once)
{
    add(&window, thread, route("/cart"), 'R', 5000000);
    add(&window, thread, route("/cart"), 'D', 3000000);
    expect_folded("service,http.route", false, "shop;/cart 8000\n");
    expect_folded("service", false, "shop 8000\n");
}

Test(top_folded, with_wall_it_is_any_time)
{
    add(&window, thread, route("/cart"), 'R', 5000000);
    add(&window, thread, route("/idle"), 'S', 0);
    expect_folded("http.route", true, "/cart 10001\n/idle 1\n");
}

Test(top_folded, less_than_a_microsecond_has_no_line)
{
    add(&window, thread, route("/cart"), 'R', 999);
    expect_folded("http.route", false, "");
    add(&window, thread, route("/items"), 'R', 1999);
    expect_folded("http.route", false, "/items 1\n");
}

Test(top_folded, no_samples_are_no_lines)
{
    expect_folded("service,http.route", false, "");
}

Test(top_folded, a_value_cannot_end_its_frame_nor_its_line)
{
    add(&window, thread, route(";a;;b;"), 'R', 9000000);
    add(&window, thread, route("a\nb\r\tc"), 'R', 8000000);
    add(&window, thread, route("\xe2\x80\xa8"), 'R', 7000000);
    expect_folded("http.route,state", false,
                  ":a::b:;R 9000\n"
                  "a\\nb\\r\\tc;R 8000\n"
                  "\\u{2028};R 7000\n");
}

Test(top_folded, quotes_backslashes_and_what_is_not_utf8_are_escaped)
{
    add(&window, thread, route("say \"\\n\""), 'R', 9000000);
    add(&window, thread, route("a\xff\xc3z"), 'R', 8000000);
    add(&window, thread, route("gr\xc3\xbc\xc3\x9f"), 'R', 7000000);
    add(&window, thread, route("\x1b[31m"), 'R', 6000000);
    expect_folded("http.route", false,
                  "say \\\"\\\\n\\\" 9000\n"
                  "a\\xff\\xc3z 8000\n"
                  "gr\xc3\xbc\xc3\x9f 7000\n"
                  "\\x1b[31m 6000\n");
}

Test(top_folded, an_empty_value_and_one_of_blanks_and_digits_are_frames)
{
    add(&window, thread, route(""), 'R', 9000000);
    add(&window, thread, route(" 5"), 'R', 8000000);
    expect_folded("http.route", false, "(empty) 9000\n 5 8000\n");
}

Test(top_folded, a_process_without_a_context_has_stacks)
{
    struct oteltop_process *const alone = process_make(7, NULL);
    struct oteltop_thread *const its = oteltop_thread_new(alone, 7, "app");

    add(&window, its, NULL, 'R', 1000000);
    expect_folded("service,process,http.route,trace", false,
                  "(no context);app 7;(no span);(no trace) 1000\n");
    oteltop_thread_free(its);
    oteltop_process_free(alone);
}
