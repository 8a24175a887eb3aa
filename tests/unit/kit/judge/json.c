/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/json.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct otelkit_json *parse(const char *text)
{
    return otelkit_json_parse(text, strlen(text));
}

static bool is_json(const char *text)
{
    struct otelkit_json *const value = parse(text);
    const bool parsed = value;

    otelkit_json_free(value);
    return parsed;
}

static bool same(const char *a, const char *b)
{
    struct otelkit_json *const one = parse(a);
    struct otelkit_json *const other = parse(b);
    bool equal;

    cr_assert(one && other, "%s, %s", a, b);
    equal = otelkit_json_equal(one, other);
    otelkit_json_free(one);
    otelkit_json_free(other);
    return equal;
}

Test(kit_json, every_kind_of_value_is_parsed)
{
    struct otelkit_json *const value =
        parse(" {\"a\": [null, true, false, -2.5e1, \"x\"], \"b\": {}} ");
    const struct otelkit_json *one;

    cr_assert_neq(value, NULL);
    cr_expect_eq(value->kind, OTELKIT_JSON_OBJECT);
    cr_expect_eq(otelkit_json_count(value), 2);
    one = otelkit_json_get(value, "a")->first;
    cr_expect_eq(one->kind, OTELKIT_JSON_NULL);
    cr_expect(one->next->truth);
    cr_expect_not(one->next->next->truth);
    cr_expect_eq(one->next->next->next->number, -25);
    cr_expect(otelkit_json_is(one->next->next->next->next, "x"));
    cr_expect_eq(otelkit_json_get(value, "c"), NULL);
    otelkit_json_free(value);
}

Test(kit_json, escapes_are_undone)
{
    struct otelkit_json *const value =
        parse("\"a\\u0000\\n\\\"\\u00e9\\u20ac\\ud83d\\ude00\"");

    cr_assert_neq(value, NULL);
    cr_expect_eq(value->size, 13);
    cr_expect_eq(
        memcmp(value->text, "a\0\n\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 13),
        0);
    otelkit_json_free(value);
}

Test(kit_json, what_is_not_json_is_refused)
{
    static const char *const wrong[] = {
        "",          "{",
        "[1,",       "[1,]",
        "{\"a\"}",   "{\"a\":}",
        "nul",       "\"x",
        "\"\\x\"",   "1 2",
        "\"\\u12\"", "{a:1}",
        "--1",       "\"\\ud800\\u0020\"",
        "]",         "+",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        cr_expect_not(is_json(wrong[i]), "%s", wrong[i]);
}

Test(kit_json, what_is_nested_too_deep_is_refused)
{
    char text[2001];

    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = '\0';
    cr_expect_not(is_json(text));
    text[1200] = '\0';
    cr_expect(is_json(text + 800), "200 deep");
}

Test(kit_json, members_are_equal_in_any_order_and_elements_are_not)
{
    cr_expect(same("{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}"));
    cr_expect_not(same("[1,2]", "[2,1]"));
    cr_expect_not(same("{\"a\":1}", "{\"a\":1,\"b\":1}"));
    cr_expect_not(same("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}"));
    cr_expect_not(same("\"a\"", "\"a\\u0000\""));
    cr_expect_not(same("1", "\"1\""));
    cr_expect_not(same("true", "false"));
    cr_expect(same("null", "null"));
}
