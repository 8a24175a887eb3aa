/* SPDX-License-Identifier: Apache-2.0 */
#include "config/entities.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>

/*
 * What the grammar allows and forbids, with the place and the reason of each
 * fault, is in tests/e2e/process/entities.sh, in the words of a user.
 */
static struct otelctx_span text, rest;
static struct otelctx_entity entity;
static struct otelctx_fault fault;

static void begin(const char *literal)
{
    rest = text = otelctx_span_from(literal);
}

static void expect_span(const char *expected, struct otelctx_span span)
{
    cr_expect(otelctx_span_equal(otelctx_span_from(expected), span),
              "\"%s\", not \"%.*s\"", expected, (int)span.size, span.at);
}

Test(entities, are_taken_from_the_last_to_the_first)
{
    begin("t{a=1};u{b=2,c=}[d=3]@x:y");
    cr_assert_eq(otelctx_entities_take(&rest, &entity, &fault), 1);
    expect_span("u", entity.type);
    expect_span("b=2,c=", entity.ids);
    expect_span("d=3", entity.descriptions);
    expect_span("x:y", entity.schema_url);

    cr_assert_eq(otelctx_entities_take(&rest, &entity, &fault), 1);
    expect_span("t", entity.type);
    expect_span("a=1", entity.ids);
    cr_expect_eq(entity.descriptions.size, 0);
    cr_expect_null(entity.schema_url.at);

    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 0);
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 0);
}

Test(entities, that_are_malformed_do_not_end_the_text)
{
    begin("t{a=1};u{;v{b=2}");
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 1);
    expect_span("v", entity.type);
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), -EINVAL);
    cr_expect_eq(fault.pos, 10);
    cr_expect_str_eq(fault.why, "a name, which begins with a letter");
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 1);
    expect_span("t", entity.type);
}

Test(entities, may_be_none)
{
    begin("");
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 0);
    begin(";;;");
    cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault), 0);
}

Test(entities, have_names_of_letters_digits_and_three_signs)
{
    for (int c = 1; c <= UCHAR_MAX; c++) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool is_other = (c >= '0' && c <= '9') || strchr("._-", c);
        char name[] = "t{?=1}";

        name[2] = (char)c;
        begin(name);
        cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault),
                     is_letter ? 1 : -EINVAL, "%02x begins", (unsigned)c);
        begin((char[]){'t', '{', 'a', (char)c, '=', '}', '\0'});
        cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault),
                     is_letter || is_other ? 1 : -EINVAL, "%02x follows",
                     (unsigned)c);
    }
}

Test(entities, have_values_of_all_but_the_reserved_characters)
{
    for (int c = 1; c <= UCHAR_MAX; c++) {
        const bool is_reserved = strchr("{}[]@;,=", c);

        begin((char[]){'t', '{', 'a', '=', (char)c, '}', '\0'});
        cr_expect_eq(otelctx_entities_take(&rest, &entity, &fault),
                     is_reserved ? -EINVAL : 1, "%02x", (unsigned)c);
    }
}

Test(entities, have_members_that_are_taken_from_the_last_to_the_first)
{
    struct otelctx_span list = OTELCTX_SPAN("a=1,b=,c=3");

    expect_span("c=3", otelctx_entities_take_member(&list));
    expect_span("b=", otelctx_entities_take_member(&list));
    expect_span("a=1", otelctx_entities_take_member(&list));
    expect_span("", otelctx_entities_take_member(&list));
}

Test(entities, have_the_names_in_a_list_and_no_parts_of_them)
{
    const struct otelctx_span list = OTELCTX_SPAN("ab=1,c=2");

    cr_expect(otelctx_entities_has(list, OTELCTX_SPAN("ab")));
    cr_expect(otelctx_entities_has(list, OTELCTX_SPAN("c")));
    cr_expect_not(otelctx_entities_has(list, OTELCTX_SPAN("a")));
    cr_expect_not(otelctx_entities_has(list, OTELCTX_SPAN("b")));
    cr_expect_not(otelctx_entities_has(list, OTELCTX_SPAN("1")));
    cr_expect_not(otelctx_entities_has(list, OTELCTX_SPAN("")));
}

Test(entities, have_schema_urls_with_a_scheme_and_without_blanks)
{
    static const char *const uris[] = {"https://example.com/1.2?a=b#c", "urn:x",
                                       "a+b-c.1:", "http://[::1]/%20"};
    static const char *const others[] = {
        "",    "invalid-url", "://x",  "1a:x",       "a_b:x",
        "a b", "a: b",        "a:<b>", "a:\xc3\xa9", "a:b\n"};

    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++)
        cr_expect(otelctx_entities_is_uri(otelctx_span_from(uris[i])), "%s",
                  uris[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect_not(otelctx_entities_is_uri(otelctx_span_from(others[i])),
                      "%s", others[i]);
}
