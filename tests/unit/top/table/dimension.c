/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/table/dimension.h"

#include "tests/unit/top/table/cells.h"

#include <errno.h>
#include <stdio.h>

static struct oteltop_thread *shop;
static struct oteltop_cell cell;

static void begin(void)
{
    shop = cells_thread(4711, "/usr/bin/python3 app.py", "shop");
    cell = (struct oteltop_cell){.thread = shop, .state = 'R'};
}

static void end(void)
{
    cells_free(shop);
}

static void expect_value(const char *name, const char *expected)
{
    char room[OTELTOP_VALUE_SIZE];
    const char *const value = oteltop_dimension_value(name, &cell, room);

    cr_expect_str_eq(value, expected, "%s: %s", name, value);
}

TestSuite(dimension, .init = begin, .fini = end);

/* ---- names -------------------------------------------------------------- */

static void expect_names(const char *text, const char *joined)
{
    struct oteltop_dimensions by = {.count = 0};
    char names[128] = "";

    cr_expect_eq(oteltop_dimensions_parse(&by, text), 0, "%s", text);
    for (size_t i = 0; i < by.count; i++)
        (void)snprintf(names + strlen(names), sizeof(names) - strlen(names),
                       "%s|", by.names[i]);
    cr_expect_str_eq(names, joined);
    oteltop_dimensions_free(&by);
    cr_expect_eq(by.count, 0);
}

Test(dimension, names_are_separated_by_commas_and_kept_as_they_are)
{
    expect_names("service", "service|");
    expect_names("service,http.route", "service|http.route|");
    expect_names("a b,c=d,\xc3\xa4", "a b|c=d|\xc3\xa4|");
    expect_names("1,2,3,4,5,6,7,8", "1|2|3|4|5|6|7|8|");
}

static void expect_refusal(const char *text, int error)
{
    struct oteltop_dimensions by = {.count = 0};

    cr_assert_eq(oteltop_dimensions_parse(&by, "before"), 0);
    cr_expect_eq(oteltop_dimensions_parse(&by, text), error, "%s", text);
    cr_expect_eq(by.count, 1);
    cr_expect_str_eq(by.names[0], "before");
    oteltop_dimensions_free(&by);
}

Test(dimension, a_refused_list_changes_nothing)
{
    expect_refusal("", -EINVAL);
    expect_refusal(",a", -EINVAL);
    expect_refusal("a,", -EINVAL);
    expect_refusal("a,,b", -EINVAL);
    expect_refusal("1,2,3,4,5,6,7,8,9", -E2BIG);
    expect_refusal("1,2,3,4,5,6,7,8,", -EINVAL);
}

/* ---- values ------------------------------------------------------------- */

Test(dimension, a_service_is_called_by_its_name_or_why_it_has_none)
{
    expect_value("service", "shop");
    oteltop_attributes_free(&shop->process->resource);
    expect_value("service", "(no service.name)");
    free(shop->process->context);
    shop->process->context = strdup("no_context");
    expect_value("service", "(no context)");
    free(shop->process->context);
    shop->process->context = strdup("no_permission");
    expect_value("service", "(no permission)");
    free(shop->process->context);
    shop->process->context = NULL;
    expect_value("service", "(no context)");
}

static void expect_process(const char *command, const char *expected)
{
    free(shop->process->command);
    shop->process->command = command ? strdup(command) : NULL;
    expect_value("process", expected);
}

Test(dimension, a_process_is_the_base_name_of_its_program_and_its_number)
{
    expect_process("/usr/bin/python3 /srv/app.py", "python3 4711");
    expect_process("nginx: worker", "nginx: 4711");
    expect_process("/sbin/", "sbin/ 4711");
    expect_process("a/b/c", "c 4711");
    expect_process("/ x", "/ 4711");
    expect_process("", " 4711");
    expect_process(NULL, "? 4711");
}

Test(dimension, the_number_of_a_process_is_never_cut_off)
{
    char command[512];
    char room[OTELTOP_VALUE_SIZE];

    memset(command, 'x', sizeof(command));
    command[400] = '\0';
    free(shop->process->command);
    shop->process->command = strdup(command);
    shop->process->pid = 4194304;

    const char *const value = oteltop_dimension_value("process", &cell, room);
    cr_expect_str_eq(value + strspn(value, "x"), " 4194304");
}

Test(dimension, a_long_name_is_cut_between_characters)
{
    char room[OTELTOP_VALUE_SIZE];
    char command[512];

    for (size_t shift = 0; shift < 3; shift++) {
        command[0] = '\0';
        for (size_t i = 0; i < shift; i++)
            strcat(command, "x");
        for (size_t i = 0; i < 100; i++)
            strcat(command, "\xe6\x97\xa5");
        free(shop->process->command);
        shop->process->command = strdup(command);

        const char *const value =
            oteltop_dimension_value("process", &cell, room);
        cr_expect_eq((strcspn(value, " ") - shift) % 3, 0, "%zu: %s", shift,
                     value);
    }
}

Test(dimension, a_thread_is_its_name_and_number)
{
    expect_value("thread", "worker 4711");
}

Test(dimension, ids_are_hexadecimal)
{
    expect_value("trace", "(no trace)");
    expect_value("span", "(no span)");
    cell.span = cells_span(shop, 0xa1, NULL, 0);
    expect_value("trace", "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1");
    expect_value("span", "a1a1a1a1a1a1a1a1");
}

Test(dimension, what_the_kernel_says_has_a_value_or_says_that_it_has_none)
{
    expect_value("state", "R");
    expect_value("container", "(no container)");
    expect_value("pod", "(no pod)");
    expect_value("cgroup", "(no cgroup)");
    shop->process->container = strdup("0123456789ab");
    shop->process->pod = strdup("shop-1");
    shop->process->cgroup = strdup("/user.slice");
    expect_value("container", "0123456789ab");
    expect_value("pod", "shop-1");
    expect_value("cgroup", "/user.slice");
}

Test(dimension, an_attribute_of_the_thread_counts_before_that_of_the_resource)
{
    cr_assert_eq(oteltop_attributes_add(&shop->process->resource, "http.route",
                                        "of the resource"),
                 0);
    expect_value("http.route", "of the resource");
    cell.span = cells_span(shop, 1, "/cart", 0);
    expect_value("http.route", "/cart");
    cell.span = cells_span(shop, 1, NULL, 0);
    expect_value("http.route", "of the resource");
}

Test(dimension, an_attribute_that_is_not_there_says_so)
{
    expect_value("http.route", "(no span)");
    cell.span = cells_span(shop, 1, NULL, 0);
    expect_value("http.route", "(no http.route)");
}

Test(dimension, a_thread_without_a_sample_is_told_from_one_without_a_span)
{
    cell.none = "detached";
    expect_value("trace", "(no trace)");
    expect_value("http.route", "(no span)");
    cell.none = "not_sampled";
    expect_value("trace", "(not sampled)");
    expect_value("span", "(not sampled)");
    expect_value("http.route", "(not sampled)");
    expect_value("service", "shop");
}

Test(dimension, a_key_may_be_longer_than_a_value)
{
    char key[2 * OTELTOP_VALUE_SIZE];
    char room[OTELTOP_VALUE_SIZE];

    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    cell.span = cells_span(shop, 1, NULL, 0);
    cr_expect_eq(strlen(oteltop_dimension_value(key, &cell, room)),
                 sizeof(room) - 1);
}
