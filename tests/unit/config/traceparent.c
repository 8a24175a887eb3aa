/* SPDX-License-Identifier: Apache-2.0 */
#include "config/traceparent.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

/* What the faults say. */
#define HEX  "a lower-case hexadecimal digit"
#define DASH "'-'"
#define END  "the end after 55 bytes"

#define TRACE_ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN_ID  "00f067aa0ba902b7"
#define IDS      TRACE_ID "-" SPAN_ID
#define GOOD     "00-" IDS "-01"

enum {
    SIZE = 55,
    TRACE_AT = 3,
    SPAN_AT = 36
};

static const struct otelctx_traceparent good = {
    .trace_id = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce,
                 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
    .span_id = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7},
    .flags = 1,
};

/* In memory without spare bytes, so that ASan sees a read beyond it. */
static int parse(struct otelctx_span text, struct otelctx_traceparent *out,
                 struct otelctx_fault *fault)
{
    char *exact = malloc(text.size ? text.size : 1);
    int err;

    memcpy(exact, text.at, text.size);
    err = otelctx_traceparent_parse((struct otelctx_span){exact, text.size},
                                    out, fault);
    free(exact);
    return err;
}

static void expect(struct otelctx_span text,
                   const struct otelctx_traceparent *expected)
{
    struct otelctx_traceparent out = {.flags = 0};
    struct otelctx_fault fault = {0};

    cr_assert_eq(parse(text, &out, &fault), 0, "\"%.*s\": at %zu: %s",
                 (int)text.size, text.at, fault.pos, fault.why);
    cr_expect_eq(memcmp(&out, expected, sizeof(out)), 0, "\"%.*s\"",
                 (int)text.size, text.at);
}

/* The position counts from 1. After a fault the output is unchanged. */
static void refuse(struct otelctx_span text, size_t pos, const char *why)
{
    struct otelctx_traceparent out, before;
    struct otelctx_fault fault = {0};

    memset(&before, 0xa5, sizeof(before));
    out = before;
    cr_assert_eq(parse(text, &out, &fault), -EINVAL, "\"%.*s\"", (int)text.size,
                 text.at);
    cr_expect_eq(fault.pos, pos, "\"%.*s\": at %zu instead of %zu",
                 (int)text.size, text.at, fault.pos, pos);
    cr_expect_str_eq(fault.why, why, "\"%.*s\": %s", (int)text.size, text.at,
                     fault.why);
    cr_expect_eq(memcmp(&out, &before, sizeof(out)), 0,
                 "\"%.*s\": a failure changed the output", (int)text.size,
                 text.at);
}

#define EXPECT(literal, expected) expect(OTELCTX_SPAN(literal), (expected))
#define REFUSE(literal, pos, why) refuse(OTELCTX_SPAN(literal), (pos), (why))

static bool is_dash(size_t at)
{
    return GOOD[at] == '-';
}

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* A good text but for one character. */
static void refuse_at(size_t at, char instead)
{
    char text[] = GOOD;

    text[at] = instead;
    refuse((struct otelctx_span){text, SIZE}, at + 1, is_dash(at) ? DASH : HEX);
}

Test(traceparent, gives_the_ids_and_the_flags)
{
    EXPECT(GOOD, &good);
}

Test(traceparent, of_version_00_is_exactly_55_bytes)
{
    cr_assert_eq(strlen(GOOD), SIZE);
    REFUSE(GOOD "-", 56, END);
    REFUSE(GOOD "-01", 56, END);
    REFUSE(GOOD "0", 56, END);
    REFUSE(GOOD " ", 56, END);
    REFUSE(GOOD "\n", 56, END);
    REFUSE(GOOD "\0", 56, END);
    REFUSE("00-" IDS "-0", 55, HEX);
}

Test(traceparent, that_is_cut_off_is_at_fault_where_it_ends)
{
    for (size_t size = 0; size < SIZE; size++)
        refuse((struct otelctx_span){GOOD, size}, size + 1,
               is_dash(size) ? DASH : HEX);
}

Test(traceparent, of_a_higher_version_may_be_55_bytes_long)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = GOOD;

    for (unsigned version = 1; version < 0xff; version++) {
        text[0] = digits[version / 16];
        text[1] = digits[version % 16];
        expect((struct otelctx_span){text, SIZE}, &good);
    }
}

Test(traceparent, of_a_higher_version_may_have_more_behind_a_dash)
{
    EXPECT("01-" IDS "-01-", &good);
    EXPECT("cc-" IDS "-01-what-the-future-will-be-like", &good);
    EXPECT("fe-" IDS "-01-\xff\0", &good);
}

Test(traceparent, of_a_higher_version_has_nothing_but_a_dash_in_byte_56)
{
    for (unsigned c = 0; c <= UINT8_MAX; c++) {
        char text[] = "01-" IDS "-01-rest";

        text[SIZE] = (char)c;
        if (c != '-')
            refuse((struct otelctx_span){text, sizeof(text) - 1}, SIZE + 1,
                   DASH);
    }
}

Test(traceparent, of_a_higher_version_keeps_to_the_other_rules)
{
    REFUSE("01-" IDS "-0", 55, HEX);
    REFUSE("01-" IDS, 53, DASH);
    REFUSE("01-" IDS "--1-", 54, HEX);
    REFUSE("01-00000000000000000000000000000000-" SPAN_ID "-01-x", 4,
           "a trace id that is not zero");
}

Test(traceparent, of_version_ff_is_invalid)
{
    REFUSE("ff-" IDS "-01", 1, "a version other than ff");
    REFUSE("ff-" IDS "-01-x", 1, "a version other than ff");
    REFUSE("ff", 1, "a version other than ff");
}

Test(traceparent, with_a_trace_id_of_zeroes_is_invalid)
{
    REFUSE("00-00000000000000000000000000000000-" SPAN_ID "-01", 4,
           "a trace id that is not zero");
}

Test(traceparent, with_a_parent_id_of_zeroes_is_invalid)
{
    REFUSE("00-" TRACE_ID "-0000000000000000-01", 37,
           "a parent id that is not zero");
}

/* Ids of zeroes but for one digit. */
static void expect_digits(size_t trace_digit, size_t span_digit)
{
    char text[] = "00-00000000000000000000000000000000-0000000000000000-00";
    struct otelctx_traceparent expected = {.flags = 0};

    text[TRACE_AT + trace_digit] = '1';
    text[SPAN_AT + span_digit] = 'f';
    expected.trace_id[trace_digit / 2] = trace_digit % 2 ? 0x01 : 0x10;
    expected.span_id[span_digit / 2] = span_digit % 2 ? 0x0f : 0xf0;
    expect((struct otelctx_span){text, SIZE}, &expected);
}

Test(traceparent, with_one_digit_that_is_not_zero_in_an_id_is_valid)
{
    for (size_t trace_digit = 0; trace_digit < 32; trace_digit++)
        for (size_t span_digit = 0; span_digit < 16; span_digit++)
            expect_digits(trace_digit, span_digit);
}

Test(traceparent, is_lower_case)
{
    for (size_t at = 0; at < SIZE; at++)
        for (const char *c = "ABCDEF"; *c; c++)
            refuse_at(at, *c);
    REFUSE("00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN_ID "-01", 5, HEX);
}

Test(traceparent, is_at_fault_where_any_byte_is_no_digit_or_no_dash)
{
    for (size_t at = 0; at < SIZE; at++)
        for (unsigned c = 0; c <= UINT8_MAX; c++)
            if (is_dash(at) ? c != '-' : !is_digit((char)c))
                refuse_at(at, (char)c);
}

Test(traceparent, is_at_fault_where_it_first_goes_wrong)
{
    REFUSE("0x-" TRACE_ID "_" SPAN_ID "-01", 2, HEX);
    REFUSE("00-00000000000000000000000000000000_" SPAN_ID "-01", 4,
           "a trace id that is not zero");
    REFUSE("00-" TRACE_ID "-0000000000000000-0g", 37,
           "a parent id that is not zero");
    REFUSE("00-" IDS "-0g-", 55, HEX);
}

Test(traceparent, stands_alone_without_blanks)
{
    REFUSE(" " GOOD, 1, HEX);
    REFUSE(GOOD " ", 56, END);
    REFUSE("", 1, HEX);
    REFUSE("traceparent: " GOOD, 1, HEX);
}

Test(traceparent, has_two_flags_that_mean_anything)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = GOOD;

    for (unsigned flags = 0; flags <= UINT8_MAX; flags++) {
        struct otelctx_traceparent expected = good;

        text[SIZE - 2] = digits[flags / 16];
        text[SIZE - 1] = digits[flags % 16];
        expected.flags = flags & 0x03; /* sampled, random */
        expect((struct otelctx_span){text, SIZE}, &expected);
    }
}
