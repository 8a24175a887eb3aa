/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/rows.h"

#include "tests/unit/top/table/cells.h"

#include <stdio.h>

static struct oteltop_thread *shop, *shop_2, *cart, *bare;
static struct oteltop_window window;

static void add(struct oteltop_thread *thread, uint8_t id, const char *route,
                uint64_t cpu_ns, uint64_t wall_ns)
{
    const struct oteltop_sample sample = {
        .thread = thread,
        .span = id ? cells_span(thread, id, route, cpu_ns) : NULL,
        .none = id ? NULL : "detached",
        .state = 'R',
        .cpu_ns = cpu_ns,
        .wall_ns = wall_ns};

    oteltop_window_add(&window, &sample);
}

/* Two processes of one service, one of another, one without a context. */
static void begin(void)
{
    shop = cells_thread(10, "/bin/shop one", "shop");
    shop_2 = cells_thread(11, "/bin/shop two", "shop");
    cart = cells_thread(20, "/bin/cart", "cart");
    bare = cells_thread(30, "/bin/bare", NULL);
    window = (struct oteltop_window){.count = 0};
    add(shop, 1, "/a", 100, 1);
    add(shop, 2, "/b", 200, 2);
    add(shop, 0, NULL, 10, 500);
    add(shop_2, 3, "/a", 300, 3);
    add(cart, 4, "/a", 250, 900);
    add(bare, 0, NULL, 50, 5);
}

static void end(void)
{
    oteltop_window_free(&window);
    cells_free(shop);
    cells_free(shop_2);
    cells_free(cart);
    cells_free(bare);
}

TestSuite(rows, .init = begin, .fini = end);

static struct oteltop_rows make(const char *by_text, enum oteltop_column order,
                                const char *filter)
{
    struct oteltop_dimensions by = {.count = 0};
    struct oteltop_rows rows;

    cr_assert_eq(oteltop_dimensions_parse(&by, by_text), 0);
    cr_assert_eq(oteltop_rows_make(&rows, &window, &by, order, filter), 0);
    oteltop_dimensions_free(&by);
    return rows;
}

/* "value number", a blank in front for each level. */
static void expect_rows(const char *by_text, enum oteltop_column order,
                        const char *filter, const char *expected)
{
    struct oteltop_rows rows = make(by_text, order, filter);
    char text[2048] = "";

    for (size_t i = 0; i < rows.count; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                       "%*s%s %llu\n", (int)rows.list[i].depth, "",
                       rows.list[i].value,
                       (unsigned long long)rows.list[i].numbers[order]);
    cr_expect_str_eq(text, expected, "%s: %s", by_text, text);
    oteltop_rows_free(&rows);
}

Test(rows, each_value_is_a_row_and_the_largest_is_first)
{
    expect_rows("service", OTELTOP_CPU, NULL,
                "shop 610\n"
                "cart 250\n"
                "(no context) 50\n");
    expect_rows("service", OTELTOP_WALL, NULL,
                "cart 900\n"
                "shop 506\n"
                "(no context) 5\n");
    expect_rows("http.route", OTELTOP_CPU, NULL,
                "/a 650\n"
                "/b 200\n"
                "(no span) 60\n");
}

Test(rows, several_dimensions_are_a_tree_whose_groups_are_in_order)
{
    expect_rows("service,http.route", OTELTOP_CPU, NULL,
                "shop 610\n"
                " /a 400\n"
                " /b 200\n"
                " (no span) 10\n"
                "cart 250\n"
                " /a 250\n"
                "(no context) 50\n"
                " (no span) 50\n");
    expect_rows("http.route,service,process", OTELTOP_CPU, NULL,
                "/a 650\n"
                " shop 400\n"
                "  shop 11 300\n"
                "  shop 10 100\n"
                " cart 250\n"
                "  cart 20 250\n"
                "/b 200\n"
                " shop 200\n"
                "  shop 10 200\n"
                "(no span) 60\n"
                " (no context) 50\n"
                "  bare 30 50\n"
                " shop 10\n"
                "  shop 10 10\n");
}

Test(rows, their_order_can_be_changed)
{
    struct oteltop_rows rows = make("service,process", OTELTOP_CPU, NULL);

    cr_expect_eq(oteltop_rows_sort(&rows, OTELTOP_WALL), 0);
    cr_assert_eq(rows.count, 7);
    cr_expect_str_eq(rows.list[0].value, "cart");
    cr_expect_str_eq(rows.list[1].value, "cart 20");
    cr_expect_str_eq(rows.list[2].value, "shop");
    cr_expect_str_eq(rows.list[3].value, "shop 10");
    cr_expect_eq(rows.list[4].parent, 2);
    cr_expect_eq(rows.list[6].parent, 5);
    oteltop_rows_free(&rows);
}

Test(rows, equal_numbers_are_in_the_order_of_their_names)
{
    add(cells_thread(40, "/bin/b", "b"), 0, NULL, 50, 5);
    add(cells_thread(41, "/bin/a", "a"), 0, NULL, 50, 5);
    expect_rows("service", OTELTOP_SAMPLES, NULL,
                "shop 4\n"
                "(no context) 1\n"
                "a 1\n"
                "b 1\n"
                "cart 1\n");
}

Test(rows, a_filter_keeps_what_has_the_text_in_one_value)
{
    expect_rows("service,http.route", OTELTOP_CPU, "/b",
                "shop 200\n"
                " /b 200\n");
    expect_rows("service,http.route", OTELTOP_CPU, "ar",
                "cart 250\n"
                " /a 250\n");
    expect_rows("service,http.route", OTELTOP_CPU, "(no",
                "(no context) 50\n"
                " (no span) 50\n"
                "shop 10\n"
                " (no span) 10\n");
    expect_rows("service", OTELTOP_CPU, "",
                "shop 610\n"
                "cart 250\n"
                "(no context) 50\n");
    expect_rows("service", OTELTOP_CPU, "nothing has this", "");
}

Test(rows, children_add_up_to_their_parent)
{
    static const enum oteltop_column sums[] = {
        OTELTOP_CPU, OTELTOP_WALL, OTELTOP_SAMPLES, OTELTOP_UNTRUSTED};
    struct oteltop_rows rows =
        make("service,process,http.route,trace", OTELTOP_LONGEST_NS, NULL);

    for (size_t s = 0; s < sizeof(sums) / sizeof(sums[0]); s++) {
        for (size_t i = 0; i < rows.count; i++) {
            uint64_t sum = 0;
            bool is_leaf = true;

            for (size_t j = i + 1; j < rows.count; j++) {
                if (rows.list[j].parent != i)
                    continue;
                cr_expect_eq(rows.list[j].depth, rows.list[i].depth + 1);
                sum += rows.list[j].numbers[sums[s]];
                is_leaf = false;
            }
            cr_expect(is_leaf || sum == rows.list[i].numbers[sums[s]],
                      "row %zu, column %d", i, (int)sums[s]);
            cr_expect_eq(is_leaf, rows.list[i].depth == 3);
        }
    }
    oteltop_rows_free(&rows);
}

Test(rows, a_thread_and_a_process_count_once_in_a_row)
{
    expect_rows("service,http.route", OTELTOP_PROCESSES, NULL,
                "shop 2\n"
                " /a 2\n"
                " (no span) 1\n"
                " /b 1\n"
                "(no context) 1\n"
                " (no span) 1\n"
                "cart 1\n"
                " /a 1\n");
    expect_rows("http.route", OTELTOP_THREADS, NULL,
                "/a 3\n"
                "(no span) 2\n"
                "/b 1\n");
    /* And again, in the next table. */
    expect_rows("state", OTELTOP_THREADS, NULL, "R 4\n");
    expect_rows("state", OTELTOP_PROCESSES, NULL, "R 4\n");
}

Test(rows, a_process_that_describes_itself_anew_is_the_same_one)
{
    struct oteltop_thread *const renewed = cells_thread(20, "/bin/cart", "new");

    add(renewed, 4, "/a", 1, 1);
    expect_rows("process", OTELTOP_PROCESSES, "cart", "cart 20 1\n");
    expect_rows("process", OTELTOP_THREADS, "cart", "cart 20 1\n");
    expect_rows("process", OTELTOP_CPU, "cart", "cart 20 251\n");
    cells_free(renewed);
}

Test(rows, a_span_is_as_long_as_its_ids_were_seen)
{
    struct oteltop_span *const first = cells_span(cart, 9, NULL, 1000);
    const struct oteltop_sample sample = {
        .thread = cart, .span = cells_span(cart, 9, "/late", 8000)};

    cr_expect_neq(first, sample.span);
    oteltop_window_add(&window, &sample);
    struct oteltop_rows rows = make("http.route", OTELTOP_LONGEST_NS, "/late");
    cr_assert_eq(rows.count, 1);
    cr_expect_eq(rows.list[0].numbers[OTELTOP_LONGEST_NS], 7000);
    oteltop_rows_free(&rows);
}

Test(rows, the_command_is_that_of_the_process_with_most_processor_time)
{
    struct oteltop_rows rows = make("service", OTELTOP_CPU, NULL);

    cr_assert_eq(rows.count, 3);
    cr_expect_str_eq(rows.list[0].command, "/bin/shop one"); /* 310, of 3 */
    cr_expect_str_eq(rows.list[2].command, "/bin/bare");
    oteltop_rows_free(&rows);
}

Test(rows, nothing_makes_no_rows)
{
    oteltop_window_clear(&window);
    expect_rows("service,process", OTELTOP_CPU, NULL, "");
    oteltop_window_free(&window);
    expect_rows("service,process", OTELTOP_CPU, NULL, "");
}
