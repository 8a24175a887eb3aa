/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/json_scan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A parser of a copy of the text, without a NUL behind it. */
static struct otelbase_scan json_of(const char *text)
{
    const size_t size = strlen(text);
    char *const copy = malloc(size + 1);

    cr_assert(copy);
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i];
    return (struct otelbase_scan){
        .start = copy, .at = copy, .end = copy + size};
}

static void expect_string(const char *text, const char *expected)
{
    struct otelbase_scan json = json_of(text);
    const struct otelbase_text string = otelbase_scan_string(&json);

    otelbase_scan_finish(&json);
    cr_expect_eq(json.why, NULL, "%s: %s", text, json.why);
    cr_expect_eq(string.size, strlen(expected), "%s", text);
    cr_expect_eq(memcmp(string.text, expected, string.size), 0, "%s", text);
    free(json.start);
}

static void expect_fault(const char *text, const char *why, size_t at)
{
    struct otelbase_scan json = json_of(text);

    (void)otelbase_scan_any(&json);
    otelbase_scan_finish(&json);
    cr_assert(json.why, "%s", text);
    cr_expect_str_eq(json.why, why, "%s", text);
    cr_expect_eq((size_t)(json.whereat - json.start), at, "%s: %td", text,
                 json.whereat - json.start);
    free(json.start);
}

Test(json_scan, members_come_in_their_order)
{
    struct otelbase_scan json =
        json_of(" { \"a\" : 12 , \"b\":{\"c\":\"d\"},\"e\":[1,{}],\"f\":true}");
    struct otelbase_text key;

    otelbase_scan_open(&json);
    cr_assert(otelbase_scan_member(&json, &key));
    cr_expect_eq(key.text[0], 'a');
    cr_expect_eq(otelbase_scan_number(&json), 12);
    cr_assert(otelbase_scan_member(&json, &key));
    otelbase_scan_open(&json);
    cr_assert(otelbase_scan_member(&json, &key));
    cr_expect_eq(key.text[0], 'c');
    cr_expect(otelbase_scan_next_is(&json, '\"'));
    cr_expect_eq(otelbase_scan_string(&json).text[0], 'd');
    cr_expect_not(otelbase_scan_member(&json, &key));
    cr_assert(otelbase_scan_member(&json, &key));
    cr_expect_eq(key.text[0], 'e');
    cr_expect_eq(otelbase_scan_any(&json).size, 6);
    cr_assert(otelbase_scan_member(&json, &key));
    cr_expect(otelbase_scan_bool(&json));
    cr_expect_not(otelbase_scan_member(&json, &key));
    otelbase_scan_finish(&json);
    cr_expect_eq(json.why, NULL, "%s", json.why);
    free(json.start);
}

Test(json_scan, an_object_may_be_empty)
{
    struct otelbase_scan json = json_of("{}");
    struct otelbase_text key;

    otelbase_scan_open(&json);
    cr_expect_not(otelbase_scan_member(&json, &key));
    otelbase_scan_finish(&json);
    cr_expect_eq(json.why, NULL);
    free(json.start);
}

Test(json_scan, escapes_are_undone)
{
    expect_string("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t");
    expect_string("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"",
                  "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    expect_string("\"\xe2\x82\xac\"", "\xe2\x82\xac");
    expect_string("\"\"", "");
}

Test(json_scan, numbers_go_up_to_63_bits)
{
    struct otelbase_scan json = json_of("9223372036854775807");

    cr_expect_eq(otelbase_scan_number(&json), INT64_MAX);
    cr_expect_eq(json.why, NULL);
    free(json.start);
}

Test(json_scan, other_numbers_are_refused_where_whole_ones_count)
{
    static const char *const texts[] = {"9223372036854775808",
                                        "99999999999999999999",
                                        "-1",
                                        "1.5",
                                        "1e3",
                                        "01",
                                        "",
                                        "x",
                                        "\"1\""};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct otelbase_scan json = json_of(texts[i]);

        cr_expect_eq(otelbase_scan_number(&json), 0, "%s", texts[i]);
        cr_expect(json.why, "%s", texts[i]);
        free(json.start);
    }
}

Test(json_scan, any_value_is_skipped)
{
    static const char *const texts[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0.5e+10",
                                        "1E-2",
                                        "[]",
                                        "[1, [2,{\"a\" : {}}] ]",
                                        "\"\\u0000\\\"\"",
                                        "{\"\\n\":[{}],\"b\":\"\xc3\xa9\"}"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct otelbase_scan json = json_of(texts[i]);
        const struct otelbase_text value = otelbase_scan_any(&json);

        otelbase_scan_finish(&json);
        cr_expect_eq(json.why, NULL, "%s: %s", texts[i], json.why);
        cr_expect_eq(value.size, strlen(texts[i]), "%s", texts[i]);
        cr_expect_eq(memcmp(value.text, texts[i], value.size), 0);
        free(json.start);
    }
}

Test(json_scan, faults_are_told_with_their_place)
{
    expect_fault("nul", "a digit is expected", 0);
    expect_fault("[1 2]", "a comma or a bracket is expected", 3);
    expect_fault("{\"a\"}", "a colon is expected", 4);
    expect_fault("{a:1}", "a string is expected", 1);
    expect_fault("\"abc", "a string has no end", 4);
    expect_fault("\"\\x\"", "not an escape of JSON", 2);
    expect_fault("\"\\ud800\"", "not a Unicode escape", 7);
    expect_fault("\"\\udc00\\ud800\"", "not a Unicode escape", 7);
    expect_fault("\"a\nb\"", "a control character in a string", 2);
    expect_fault("\"\xff\"", "not UTF-8", 1);
    expect_fault("{} x", "something follows the object", 3);
    expect_fault("-", "a digit is expected", 1);
    expect_fault("1.", "a digit is expected", 2);
    expect_fault("1e", "a digit is expected", 2);
}

Test(json_scan, nesting_has_a_limit)
{
    char text[301];

    (void)memset(text, '[', 300);
    text[300] = '\0';
    expect_fault(text, "nested too deeply", 65);
}

Test(json_scan, the_first_fault_stays_and_nothing_moves_behind_it)
{
    struct otelbase_scan json = json_of("x {\"a\":1}");
    struct otelbase_text key;

    otelbase_scan_open(&json);
    otelbase_scan_fail(&json, "another");
    cr_expect_not(otelbase_scan_member(&json, &key));
    cr_expect_eq(otelbase_scan_number(&json), 0);
    cr_expect_eq(otelbase_scan_string(&json).size, 0);
    cr_expect_eq(otelbase_scan_any(&json).size, 0);
    cr_expect_str_eq(json.why, "an object is expected");
    cr_expect_eq(json.at, json.start);
    free(json.start);
}
