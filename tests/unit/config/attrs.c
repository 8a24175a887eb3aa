/* SPDX-License-Identifier: Apache-2.0 */
#include "config/attrs.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the faults say. */
#define HEX  "two hexadecimal digits after '%'"
#define UTF8 "valid UTF-8"
#define NUL  "no NUL character"
#define PAIR "key=value"
#define KEY  "a key before '='"

enum {
    SCRATCH_SIZE = 64,
    BIG = 120 * 1024,
};

/*
 * A text of OTEL_RESOURCE_ATTRIBUTES, and either all the pairs in it, decoded,
 * or where and why it is at fault.
 */
struct row {
    struct otelctx_span text;
    struct {
        const char *key, *value;
    } pairs[4];
    struct otelctx_fault fault;
};

#define YIELDS(literal, ...)                                                   \
    {                                                                          \
        .text = OTELCTX_SPAN_INIT(literal), .pairs = { __VA_ARGS__ }           \
    }
#define NOTHING(literal)                                                       \
    {                                                                          \
        .text = OTELCTX_SPAN_INIT(literal)                                     \
    }
#define FAULT(literal, position, reason)                                       \
    {                                                                          \
        .text = OTELCTX_SPAN_INIT(literal), .fault = {                         \
            .pos = (position),                                                 \
            .why = (reason)                                                    \
        }                                                                      \
    }

static bool is(struct otelctx_span span, const char *text)
{
    return otelctx_span_equal(span, otelctx_span_from(text));
}

static void check_pairs(const struct row *row, struct otelctx_attrs it)
{
    struct otelctx_fault fault = {0};
    struct otelctx_pair pair;

    for (size_t i = 0; i < 4 && row->pairs[i].key; i++) {
        cr_assert_eq(otelctx_attrs_next(&it, &pair, &fault), 1,
                     "\"%s\": pair %zu: fault at %zu: %s", row->text.at, i + 1,
                     fault.pos, fault.why);
        cr_expect(is(pair.key, row->pairs[i].key),
                  "\"%s\": pair %zu: key is \"%.*s\"", row->text.at, i + 1,
                  (int)pair.key.size, pair.key.at);
        cr_expect(is(pair.value, row->pairs[i].value),
                  "\"%s\": pair %zu: value is \"%.*s\"", row->text.at, i + 1,
                  (int)pair.value.size, pair.value.at);
    }
    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 0,
                 "\"%s\": more than expected", row->text.at);
}

static void check_fault(const struct row *row, struct otelctx_attrs it)
{
    const struct otelctx_pair before = {.pos = 4711};
    struct otelctx_fault fault = {0};
    struct otelctx_pair pair;
    int got;

    do {
        pair = before;
        got = otelctx_attrs_next(&it, &pair, &fault);
    } while (got == 1);
    cr_assert_eq(got, -EINVAL, "\"%s\": returned %d", row->text.at, got);
    cr_expect_eq(fault.pos, row->fault.pos, "\"%s\": at %zu instead of %zu",
                 row->text.at, fault.pos, row->fault.pos);
    cr_expect_str_eq(fault.why, row->fault.why, "\"%s\": %s", row->text.at,
                     fault.why);
    cr_expect_eq(memcmp(&pair, &before, sizeof(pair)), 0,
                 "\"%s\": a failure changed the pair", row->text.at);
}

/* The text is in memory without spare bytes, so that ASan sees a read beyond
 * it. */
static void check_row(const struct row *row)
{
    char *exact = malloc(row->text.size ? row->text.size : 1);
    char scratch[SCRATCH_SIZE];
    struct otelctx_attrs it;

    memcpy(exact, row->text.at, row->text.size);
    it = otelctx_attrs_begin((struct otelctx_span){exact, row->text.size},
                             scratch, sizeof(scratch));
    if (row->fault.why)
        check_fault(row, it);
    else
        check_pairs(row, it);
    free(exact);
}

#define CHECK(rows)                                                            \
    do {                                                                       \
        for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)          \
            check_row(&(rows)[i]);                                             \
    } while (0)

Test(attrs, are_pairs_between_commas)
{
    static const struct row rows[] = {
        YIELDS("a=1", {"a", "1"}),
        YIELDS("a=1,b=2", {"a", "1"}, {"b", "2"}),
        YIELDS("service.name=shop,service.version=1.2,host.id=x",
               {"service.name", "shop"}, {"service.version", "1.2"},
               {"host.id", "x"}),
        YIELDS("a=", {"a", ""}),
        YIELDS("a=,b=", {"a", ""}, {"b", ""}),
    };
    CHECK(rows);
}

Test(attrs, of_one_key_all_come_out)
{
    static const struct row rows[] = {
        YIELDS("a=1,a=2", {"a", "1"}, {"a", "2"}),
        YIELDS("a=1,a=1", {"a", "1"}, {"a", "1"}),
        YIELDS("a=1,b=2,%61=3", {"a", "1"}, {"b", "2"}, {"a", "3"}),
        YIELDS("a=1,A=2", {"a", "1"}, {"A", "2"}),
    };
    CHECK(rows);
}

Test(attrs, empty_members_count_for_nothing)
{
    static const struct row rows[] = {
        NOTHING(""),
        NOTHING(","),
        NOTHING(",,,,"),
        NOTHING(" "),
        NOTHING(" \t "),
        NOTHING(" , \t,"),
        NOTHING(",\r\n,\v\f\n"),
        YIELDS(",a=1", {"a", "1"}),
        YIELDS("a=1,", {"a", "1"}),
        YIELDS("a=1,,b=2", {"a", "1"}, {"b", "2"}),
        YIELDS(" ,a=1,\t,", {"a", "1"}),
    };
    CHECK(rows);
}

Test(attrs, a_member_needs_an_equals_sign)
{
    static const struct row rows[] = {
        FAULT("a", 1, PAIR),       FAULT("a=1,b", 5, PAIR),
        FAULT("a,b=1", 1, PAIR),   FAULT("  a", 3, PAIR),
        FAULT("a=1, b ", 6, PAIR), FAULT("a%3D1", 1, PAIR),
        FAULT("a=1,\tb", 6, PAIR), FAULT("a:1", 1, PAIR),
        FAULT("a=1;b,c", 7, PAIR), FAULT("\"", 1, PAIR),
        FAULT("a=1,,,b", 7, PAIR), FAULT("%", 1, PAIR),
        FAULT("a=b=c,d", 7, PAIR),
    };
    CHECK(rows);
}

Test(attrs, a_key_is_not_empty)
{
    static const struct row rows[] = {
        FAULT("=", 1, KEY),   FAULT("=1", 1, KEY),      FAULT("a=1,=2", 5, KEY),
        FAULT(" =1", 2, KEY), FAULT("a=1,\t=", 6, KEY), FAULT("==", 1, KEY),
    };
    CHECK(rows);
}

Test(attrs, only_the_first_equals_sign_splits)
{
    static const struct row rows[] = {
        YIELDS("a=b=c", {"a", "b=c"}),
        YIELDS("a==", {"a", "="}),
        YIELDS("a= = ", {"a", "="}),
        YIELDS("a=1=,b==2", {"a", "1="}, {"b", "=2"}),
        YIELDS("a%3Db=c", {"a=b", "c"}),
        YIELDS("jdbc=db?x=%2Cy&z=1", {"jdbc", "db?x=,y&z=1"}),
    };
    CHECK(rows);
}

Test(attrs, blanks_around_keys_and_values_do_not_count)
{
    static const struct row rows[] = {
        YIELDS(" a=1", {"a", "1"}),
        YIELDS("a=1 ", {"a", "1"}),
        YIELDS("a =1", {"a", "1"}),
        YIELDS("a= 1", {"a", "1"}),
        YIELDS("\ta\t=\t1\t,\tb\t=\t2\t", {"a", "1"}, {"b", "2"}),
        YIELDS(" \t a \t = \t 1 \t ", {"a", "1"}),
        YIELDS("a= ", {"a", ""}),
        YIELDS("a=\t,b=2", {"a", ""}, {"b", "2"}),
        YIELDS("\n  a\r\n=\v1,\f\n b=2\n,\n", {"a", "1"}, {"b", "2"}),
        YIELDS("a\nb=%0a1%20", {"a\nb", "\n1 "}),
    };
    CHECK(rows);
}

Test(attrs, blanks_inside_are_kept)
{
    static const struct row rows[] = {
        YIELDS("a=one two", {"a", "one two"}),
        YIELDS("a=one\t\ttwo", {"a", "one\t\ttwo"}),
        YIELDS("a b=1", {"a b", "1"}),
    };
    CHECK(rows);
}

Test(attrs, escaped_blanks_are_kept)
{
    static const struct row rows[] = {
        YIELDS("a=%20", {"a", " "}),
        YIELDS("a=%20%09", {"a", " \t"}),
        YIELDS("a= %20 1%20 ", {"a", "  1 "}),
        YIELDS("%20=1", {" ", "1"}),
        YIELDS("%09a%20=1", {"\ta ", "1"}),
        YIELDS("a=%0d%0A", {"a", "\r\n"}),
    };
    CHECK(rows);
}

Test(attrs, escapes_are_two_digits_of_either_case)
{
    static const struct row rows[] = {
        YIELDS("a=%41%5a", {"a", "AZ"}),
        YIELDS("a=%5A", {"a", "Z"}),
        YIELDS("a=%4a%4A%6f%6F", {"a", "JJoo"}),
        YIELDS("a=%2C,b=%2c", {"a", ","}, {"b", ","}),
        YIELDS("a=%3D%3d", {"a", "=="}),
        YIELDS("a=%25", {"a", "%"}),
        YIELDS("a=%2541", {"a", "%41"}),
        YIELDS("a=%25%32%35", {"a", "%25"}),
        YIELDS("a=100%25", {"a", "100%"}),
        YIELDS("%61%2Cb=1", {"a,b", "1"}),
        YIELDS("a=%411", {"a", "A1"}),
        YIELDS("a=%01%7F", {"a", "\x01\x7f"}),
    };
    CHECK(rows);
}

Test(attrs, a_bad_escape_is_at_its_percent_sign)
{
    static const struct row rows[] = {
        FAULT("a=%", 3, HEX),         FAULT("a=%4", 3, HEX),
        FAULT("a=%zz", 3, HEX),       FAULT("a=%G0", 3, HEX),
        FAULT("a=%0G", 3, HEX),       FAULT("a=%%41", 3, HEX),
        FAULT("a=%41%", 6, HEX),      FAULT("a=%4,b=1", 3, HEX),
        FAULT("a=%,41=1", 3, HEX),    FAULT("a=1,b=%x", 7, HEX),
        FAULT("%=1", 1, HEX),         FAULT("%4=1", 1, HEX),
        FAULT("ab%6=1", 3, HEX),      FAULT("a=% 41", 3, HEX),
        FAULT("a=%4 1", 3, HEX),      FAULT("a=%+1", 3, HEX),
        FAULT("a=%-1", 3, HEX),       FAULT("a=%0x41", 3, HEX),
        FAULT("a=%4 ,b=%", 3, HEX),   FAULT("a=%@1", 3, HEX),
        FAULT("a=%`1", 3, HEX),       FAULT("a=%/1", 3, HEX),
        FAULT("a=%:1", 3, HEX),       FAULT("a=%g1", 3, HEX),
        FAULT("a=%\xb4\xb1", 3, HEX), FAULT("a=%\x14\x11", 3, HEX),
        FAULT("a=%u0041", 3, HEX),    FAULT("k= v %", 6, HEX),
    };
    CHECK(rows);
}

Test(attrs, are_utf8_raw_escaped_or_mixed)
{
    static const struct row rows[] = {
        YIELDS("a=caf\u00e9", {"a", "caf\u00e9"}),
        YIELDS("a=caf%C3%A9", {"a", "caf\u00e9"}),
        YIELDS("a=caf%c3\xa9", {"a", "caf\u00e9"}),
        YIELDS("a=caf\xc3%a9", {"a", "caf\u00e9"}),
        YIELDS("\u00fc=1", {"\u00fc", "1"}),
        YIELDS("a=%C2%80", {"a", "\xc2\x80"}),
        YIELDS("a=%DF%BF", {"a", "\xdf\xbf"}),
        YIELDS("a=%E2%82%AC", {"a", "\u20ac"}),
        YIELDS("a=%E0%A0%80", {"a", "\u0800"}),
        YIELDS("a=%ED%9F%BF", {"a", "\xed\x9f\xbf"}),
        YIELDS("a=%EE%80%80", {"a", "\ue000"}),
        YIELDS("a=%EF%BF%BF", {"a", "\uffff"}),
        YIELDS("a=\xef\xbb\xbf", {"a", "\ufeff"}),
        YIELDS("a=%F0%9F%90%88", {"a", "\U0001f408"}),
        YIELDS("\U0001f408=\U0001f408", {"\U0001f408", "\U0001f408"}),
        YIELDS("a=%F0%90%80%80", {"a", "\U00010000"}),
        YIELDS("a=%F4%8F%BF%BF", {"a", "\U0010ffff"}),
        YIELDS("a=\xf4\x8f\xbf\xbf", {"a", "\U0010ffff"}),
    };
    CHECK(rows);
}

/* The position is that of the bad character's first byte in the text. */
Test(attrs, that_are_not_utf8_are_at_the_first_byte_of_the_bad_character)
{
    static const struct row rows[] = {
        /* continuation bytes without a beginning */
        FAULT("a=\x80", 3, UTF8),
        FAULT("a=%80", 3, UTF8),
        FAULT("a=%BF", 3, UTF8),
        FAULT("a=%C3%A9%A9", 9, UTF8),
        FAULT("a=\u00e9\xa9", 5, UTF8),
        /* overlong */
        FAULT("a=%C0%80", 3, UTF8),
        FAULT("a=\xc0\xaf", 3, UTF8),
        FAULT("a=%C1%BF", 3, UTF8),
        FAULT("a=x%E0%9F%BF", 4, UTF8),
        FAULT("a=x%F0%8F%BF%BF", 4, UTF8),
        FAULT("a=\xe0\x80\x80", 3, UTF8),
        /* surrogates */
        FAULT("a=%ED%A0%80", 3, UTF8),
        FAULT("a=\xed\xbf\xbf", 3, UTF8),
        FAULT("a=%ED%A0%BD%ED%B8%80", 3, UTF8),
        /* above U+10FFFF */
        FAULT("a=%F4%90%80%80", 3, UTF8),
        FAULT("a=\xf5\x80\x80\x80", 3, UTF8),
        FAULT("a=%F8%88%80%80%80", 3, UTF8),
        /* no byte of UTF-8 at all */
        FAULT("a=\xff", 3, UTF8),
        FAULT("a=%FF", 3, UTF8),
        FAULT("a=%FE%FF", 3, UTF8),
        /* cut off by the end, a comma, an equals sign, a blank, text */
        FAULT("a=xy%C3", 5, UTF8),
        FAULT("a=xy\xc3", 5, UTF8),
        FAULT("a=%E2%82", 3, UTF8),
        FAULT("a=\xf0\x9f\x90", 3, UTF8),
        FAULT("a=%F0%9F%90,b=%88", 3, UTF8),
        FAULT("a=\xc3,\xa9=1", 3, UTF8),
        FAULT("ab\xc3=\xa9", 3, UTF8),
        FAULT("ab%C3=%A9", 3, UTF8),
        FAULT("a=\xc3 ", 3, UTF8),
        FAULT("a=%C3x", 3, UTF8),
        /* behind escapes, which are three bytes of the text each */
        FAULT("a=%41%41%FF", 9, UTF8),
        FAULT("a=%41\u00e9\xff", 8, UTF8),
        FAULT("%61%FF=1", 4, UTF8),
        FAULT("k=1, \t%E9 = 1", 7, UTF8),
        FAULT("k=1,k= %20\xe9", 11, UTF8),
    };
    CHECK(rows);
}

Test(attrs, hold_no_nul)
{
    static const struct row rows[] = {
        FAULT("a=%00", 3, NUL), FAULT("a=x%00y", 4, NUL),
        FAULT("%00=1", 1, NUL), FAULT("a%00=1", 2, NUL),
        FAULT("a=\0", 3, NUL),  FAULT("a=1\0,b=2", 4, NUL),
        FAULT("a\0=1", 2, NUL), FAULT("a=1,b=%41%00", 10, NUL),
        FAULT("\0", 1, PAIR),
    };
    CHECK(rows);
}

Test(attrs, punctuation_means_itself)
{
    static const struct row rows[] = {
        YIELDS("a=1+2", {"a", "1+2"}),
        YIELDS("a+b=1", {"a+b", "1"}),
        YIELDS("a=1;b=2", {"a", "1;b=2"}),
        YIELDS("a=1;p=x,b=2", {"a", "1;p=x"}, {"b", "2"}),
        YIELDS("a=\"1\"", {"a", "\"1\""}),
        YIELDS("\"a\"='1'", {"\"a\"", "'1'"}),
        YIELDS("a=\"1,b=2\"", {"a", "\"1"}, {"b", "2\""}),
        YIELDS("a=\\,b=\\n", {"a", "\\"}, {"b", "\\n"}),
        YIELDS("a=$HOME&{x}", {"a", "$HOME&{x}"}),
        YIELDS("#a=1#", {"#a", "1#"}),
        YIELDS("a=http://h:80/?q#f", {"a", "http://h:80/?q#f"}),
    };
    CHECK(rows);
}

Test(attrs, say_where_each_key_begins)
{
    char scratch[SCRATCH_SIZE];
    struct otelctx_attrs it = otelctx_attrs_begin(
        OTELCTX_SPAN("a=%41,, \tbb = 2,%63=3"), scratch, sizeof(scratch));
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    cr_assert_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect_eq(pair.pos, 1);
    cr_assert_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect_eq(pair.pos, 10);
    cr_assert_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect_eq(pair.pos, 17);
}

Test(attrs, of_an_unset_variable_are_none)
{
    struct otelctx_attrs it =
        otelctx_attrs_begin((struct otelctx_span){NULL, 0}, NULL, 0);
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 0);
    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 0);
}

Test(attrs, after_the_end_stay_at_the_end)
{
    char scratch[SCRATCH_SIZE];
    struct otelctx_attrs it =
        otelctx_attrs_begin(OTELCTX_SPAN("a=1"), scratch, sizeof(scratch));
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 0);
    cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 0);
}

/* What the first pair of a text returns with a scratch of that size. */
static int first_of(struct otelctx_span text, size_t scratch_size,
                    struct otelctx_fault *fault)
{
    const struct otelctx_pair before = {.pos = 4711};
    struct otelctx_pair pair = before;
    char *scratch = malloc(scratch_size ? scratch_size : 1);
    struct otelctx_attrs it = otelctx_attrs_begin(text, scratch, scratch_size);
    const int got = otelctx_attrs_next(&it, &pair, fault);

    if (got != 1)
        cr_expect_eq(memcmp(&pair, &before, sizeof(pair)), 0,
                     "a failure changed the pair");
    free(scratch);
    return got;
}

Test(attrs, need_a_scratch_for_one_decoded_key_and_value)
{
    static const struct {
        struct otelctx_span text;
        size_t needed;
        size_t pos; /* of the key or value that one byte less cuts */
    } rows[] = {
        {OTELCTX_SPAN_INIT("abc=defg"), 7, 5},
        {OTELCTX_SPAN_INIT("abc= defg"), 7, 6},
        {OTELCTX_SPAN_INIT("%61%62=%63%64"), 4, 8},
        {OTELCTX_SPAN_INIT("  abc="), 3, 3},
        {OTELCTX_SPAN_INIT("a=\u20ac"), 4, 3},
    };
    struct otelctx_fault fault = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_eq(first_of(rows[i].text, rows[i].needed, &fault), 1, "%s",
                     rows[i].text.at);
        cr_expect_eq(first_of(rows[i].text, rows[i].needed - 1, &fault),
                     -ENOSPC, "%s", rows[i].text.at);
        cr_expect_eq(fault.pos, rows[i].pos, "%s: at %zu", rows[i].text.at,
                     fault.pos);
        cr_expect_str_eq(fault.why, "an attribute of at most 64 KiB");
        cr_expect_eq(first_of(rows[i].text, 0, &fault), -ENOSPC, "%s",
                     rows[i].text.at);
    }
}

Test(attrs, reuse_the_scratch_for_every_pair)
{
    char scratch[2];
    struct otelctx_attrs it = otelctx_attrs_begin(OTELCTX_SPAN("a=1,b=2,c=3"),
                                                  scratch, sizeof(scratch));
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    for (unsigned i = 0; i < 3; i++)
        cr_expect_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect(is(pair.key, "c"));
    cr_expect(is(pair.value, "3"));
}

/* A text of exactly that size: `unit`, over and over. */
static char *repeat(const char *unit, size_t size)
{
    char *text = malloc(size);

    for (size_t i = 0; i < size; i++)
        text[i] = unit[i % strlen(unit)];
    return text;
}

/* How many pairs a text has; *last is what the call after them returned. */
static size_t count(const char *text, size_t size, int *last,
                    struct otelctx_fault *fault)
{
    static char scratch[BIG];
    struct otelctx_attrs it = otelctx_attrs_begin(
        (struct otelctx_span){text, size}, scratch, sizeof(scratch));
    struct otelctx_pair pair;
    size_t pairs = 0;

    while ((*last = otelctx_attrs_next(&it, &pair, fault)) == 1)
        pairs++;
    return pairs;
}

Test(attrs, may_be_one_huge_value, .timeout = 60)
{
    char *text = repeat("v", BIG), *scratch = malloc(BIG);
    struct otelctx_attrs it =
        otelctx_attrs_begin((struct otelctx_span){text, BIG}, scratch, BIG);
    struct otelctx_fault fault;
    struct otelctx_pair pair;

    text[1] = '=';
    cr_assert_eq(otelctx_attrs_next(&it, &pair, &fault), 1);
    cr_expect_eq(pair.key.size, 1);
    cr_expect_eq(pair.value.size, BIG - 2);
    cr_expect_eq(memcmp(pair.value.at, text + 2, BIG - 2), 0);
    free(scratch);
    free(text);
}

Test(attrs, may_be_30000_short_members, .timeout = 60)
{
    const size_t size = (size_t)30000 * 4;
    char *text = repeat("a=1,", size);
    struct otelctx_fault fault;
    int last;

    cr_expect_eq(count(text, size, &last, &fault), 30000);
    cr_expect_eq(last, 0);
    free(text);
}

Test(attrs, may_be_nothing_but_commas, .timeout = 60)
{
    char *commas = repeat(",", BIG), *blanks = repeat(" ,\t", BIG);
    struct otelctx_fault fault;
    int last;

    cr_expect_eq(count(commas, BIG, &last, &fault), 0);
    cr_expect_eq(last, 0);
    cr_expect_eq(count(blanks, BIG, &last, &fault), 0);
    cr_expect_eq(last, 0);
    free(blanks);
    free(commas);
}

Test(attrs, may_not_be_nothing_but_percent_signs, .timeout = 60)
{
    char *text = repeat("%", BIG);
    struct otelctx_fault fault;
    int last;

    cr_expect_eq(count(text, BIG, &last, &fault), 0);
    cr_expect_eq(last, -EINVAL);
    cr_expect_eq(fault.pos, 1);
    cr_expect_str_eq(fault.why, PAIR);

    text[BIG / 2] = '=';
    cr_expect_eq(count(text, BIG, &last, &fault), 0);
    cr_expect_eq(last, -EINVAL);
    cr_expect_eq(fault.pos, 1);
    cr_expect_str_eq(fault.why, HEX);
    free(text);
}

Test(attrs, may_be_at_fault_in_the_last_of_many_bytes, .timeout = 60)
{
    const size_t size = (size_t)40000 * 3;
    char *text = repeat("%41", size);
    struct otelctx_fault fault;
    int last;

    text[3] = '=';
    memset(text + 4, 'x', 2);
    memset(text + size - 2, 'F', 2);
    cr_expect_eq(count(text, size, &last, &fault), 0);
    cr_expect_eq(last, -EINVAL);
    cr_expect_eq(fault.pos, size - 2);
    cr_expect_str_eq(fault.why, UTF8);
    free(text);
}
