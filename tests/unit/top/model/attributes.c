/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/model/attributes.h"

#include <criterion/criterion.h>

static struct oteltop_attributes list;

static void add(const char *key, const char *value)
{
    cr_assert_eq(oteltop_attributes_add(&list, key, value), 0);
}

static void end(void)
{
    oteltop_attributes_free(&list);
    cr_expect_eq(list.count, 0);
    cr_expect_null(list.list);
}

TestSuite(attributes, .fini = end);

Test(attributes, they_are_found_by_their_whole_key)
{
    add("http.route", "/cart");
    add("", "empty");
    cr_expect_str_eq(oteltop_attributes_find(&list, "http.route"), "/cart");
    cr_expect_str_eq(oteltop_attributes_find(&list, ""), "empty");
    cr_expect_null(oteltop_attributes_find(&list, "http.rout"));
    cr_expect_null(oteltop_attributes_find(&list, "http.route."));
    cr_expect_null(oteltop_attributes_find(&list, "HTTP.route"));
}

Test(attributes, of_equal_keys_the_last_counts)
{
    add("a", "1");
    add("b", "2");
    add("a", "3");
    cr_expect_str_eq(oteltop_attributes_find(&list, "a"), "3");
    cr_expect_str_eq(list.list[0].value, "1");
    cr_expect_eq(list.count, 3);
}

Test(attributes, they_are_copies)
{
    char key[] = "key";
    char value[] = "value";

    add(key, value);
    key[0] = value[0] = 'x';
    cr_expect_str_eq(oteltop_attributes_find(&list, "key"), "value");
}

Test(attributes, an_empty_list_has_none)
{
    cr_expect_null(oteltop_attributes_find(&list, "key"));
}
