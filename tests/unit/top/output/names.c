/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/names.h"

#include "tests/unit/top/output/full.h"

#include <criterion/criterion.h>

Test(top_names, the_empty_string_is_0_and_others_count_from_1)
{
    struct oteltop_names names = {.count = 0};

    cr_expect_eq(oteltop_names_number(&names, "a"), 1);
    cr_expect_eq(oteltop_names_number(&names, ""), 0);
    cr_expect_eq(oteltop_names_number(&names, "b"), 2);
    cr_expect_eq(oteltop_names_number(&names, "a"), 1);
    cr_expect_eq(names.count, 3);
    cr_expect_str_eq(names.list[0], "");
    cr_expect_str_eq(names.list[1], "a");
    cr_expect_str_eq(names.list[2], "b");
    cr_expect_not(names.is_short);
    oteltop_names_free(&names);
}

Test(top_names, a_number_stays_however_many_follow)
{
    struct oteltop_names names = {.count = 0};
    char text[16];

    for (int round = 0; round < 2; round++) {
        for (size_t i = 1; i <= 5000; i++) {
            (void)snprintf(text, sizeof(text), "name %zu", i);
            cr_expect_eq(oteltop_names_number(&names, text), i);
        }
    }
    cr_expect_eq(names.count, 5001);
    cr_expect_str_eq(names.list[4711], "name 4711");
    oteltop_names_free(&names);
}

Test(top_names, a_string_is_kept_when_the_callers_is_gone)
{
    struct oteltop_names names = {.count = 0};
    char text[] = "a";

    (void)oteltop_names_number(&names, text);
    text[0] = 'b';
    cr_expect_str_eq(names.list[1], "a");
    cr_expect_eq(oteltop_names_number(&names, "b"), 2);
    oteltop_names_free(&names);
}

Test(top_names, without_memory_a_new_string_is_0_and_that_is_kept_in_mind)
{
    struct oteltop_names names = {.count = 0};

    (void)oteltop_names_number(&names, "a");
    left = 0;
    cr_expect_eq(oteltop_names_number(&names, "a"), 1);
    cr_expect_not(names.is_short);
    cr_expect_eq(oteltop_names_number(&names, "b"), 0);
    cr_expect(names.is_short);
    cr_expect_eq(oteltop_names_number(&names, "b"), 2);
    cr_expect(names.is_short);
    oteltop_names_free(&names);
    cr_expect_not(names.is_short, "free makes it a new one");
}
