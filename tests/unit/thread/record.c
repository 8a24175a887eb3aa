/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/record.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "shim/wire/process.h"
#include "tests/support/golden.h"

enum {
    HEAD = 28, /* bytes before the attributes */
    ATTRS_MAX = 612,
    PLENTY = 700
};

static const struct otelctx_ids ids = {
    .trace_id = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce,
                 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
    .span_id = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7},
    .trace_flags = 3,
};

/* The record, with bytes around it that a wrong write would change. */
static struct {
    uint8_t before[64];
    struct otelctx_record record;
    uint8_t after[64];
} guarded, snapshot;
static struct otelctx_record *const record = &guarded.record;
static char many[PLENTY]; /* "xxx..." */

static void begin(void)
{
    memset(&guarded, 0xa5, sizeof(guarded));
    otelctx_record_write(record, &ids);
    record->valid = 1;
    memset(many, 'x', sizeof(many));
}

static void check_guards(void)
{
    for (size_t i = 0; i < sizeof(guarded.before); i++) {
        cr_assert_eq(guarded.before[i], 0xa5, "written before the record");
        cr_assert_eq(guarded.after[i], 0xa5, "written behind the record");
    }
}

TestSuite(record, .init = begin, .fini = check_guards);

static int set(uint8_t key, const char *text)
{
    const struct otelctx_span value = otelctx_span_from(text);

    return otelctx_record_change(record, key, &value);
}

/* Set a value of `size` times the character. */
static int set_many(uint8_t key, char c, size_t size)
{
    memset(many, c, size);
    return otelctx_record_change(record, key,
                                 &(struct otelctx_span){many, size});
}

static int unset(uint8_t key)
{
    return otelctx_record_change(record, key, NULL);
}

static void remember(void)
{
    snapshot = guarded;
}

static bool unchanged(void)
{
    return memcmp(&guarded, &snapshot, sizeof(guarded)) == 0;
}

static void expect_golden(const char *name)
{
    uint8_t expected[sizeof(*record)];
    const size_t size = golden_read(name, expected, sizeof(expected));

    cr_expect_eq(size, (size_t)HEAD + record->attrs_size, "%s: %u bytes", name,
                 record->attrs_size);
    cr_expect_eq(memcmp(record, expected, size), 0, "%s: other bytes", name);
}

/* Are these the bytes of the attributes? */
static bool has(struct otelctx_span attrs)
{
    return otelctx_span_equal(
        attrs,
        (struct otelctx_span){(const char *)record->attrs, record->attrs_size});
}
#define HAS(literal) cr_expect(has(OTELCTX_SPAN(literal)))

/* Write bytes that no call of the shim would write. */
static void put_raw(struct otelctx_span attrs)
{
    memcpy(record->attrs, attrs.at, attrs.size);
    record->attrs_size = (uint16_t)attrs.size;
}

Test(record, of_a_trace_has_the_ids_and_no_attributes)
{
    struct otelctx_ids sampled = ids;

    sampled.trace_flags = 1;
    otelctx_record_write(record, &sampled);
    expect_golden("record_ids");
}

Test(record, has_its_attributes_in_the_order_in_which_they_came)
{
    cr_expect_eq(set(0, "/cart"), 0);
    cr_expect_eq(set(7, "caf\u00e9"), 0);
    expect_golden("record_two_attributes");
}

Test(record, without_a_trace_has_attributes_and_no_flags)
{
    otelctx_record_write(record, &(struct otelctx_ids){.trace_flags = 3});
    cr_expect_eq(set(255, "\U0001f408"), 0);
    cr_expect_eq(set(0, ""), 0);
    expect_golden("record_without_trace");
}

Test(record, has_a_replaced_value_in_the_place_of_the_old_one)
{
    cr_expect_eq(set(0, "/cart"), 0);
    cr_expect_eq(set(7, "caf\u00e9"), 0);
    cr_expect_eq(set(0, "/cart/checkout"), 0);
    expect_golden("record_replaced");
}

static void fill(void)
{
    struct otelctx_ids sampled = ids;

    sampled.trace_flags = 1;
    otelctx_record_write(record, &sampled);
    cr_expect_eq(set_many(0, 'x', 255), 0);
    cr_expect_eq(set_many(1, 'y', 255), 0);
    cr_expect_eq(set_many(2, 'z', 96), 0);
}

Test(record, may_have_640_bytes)
{
    fill();
    cr_expect_eq(record->attrs_size, ATTRS_MAX);
    expect_golden("record_full");
}

Test(record, written_anew_has_no_attributes)
{
    fill();
    otelctx_record_write(record, &ids);
    cr_expect_eq(record->attrs_size, 0);
}

Test(record, written_anew_is_as_valid_as_before)
{
    for (unsigned valid = 0; valid <= UINT8_MAX; valid++) {
        record->valid = (uint8_t)valid;
        otelctx_record_write(record, &ids);
        cr_expect_eq(record->valid, valid);
    }
}

Test(record, is_as_valid_after_a_change_as_before)
{
    for (unsigned valid = 0; valid <= UINT8_MAX; valid++) {
        record->valid = (uint8_t)valid;
        cr_expect_eq(set(1, "appended"), 0);
        cr_expect_eq(record->valid, valid);
        cr_expect_eq(set(1, "replaced"), 0);
        cr_expect_eq(record->valid, valid);
        cr_expect_eq(unset(1), 0);
        cr_expect_eq(record->valid, valid);
    }
}

Test(ids, of_a_trace_are_both_not_zero)
{
    struct otelctx_ids some = {.trace_flags = 1};

    cr_expect(otelctx_ids_allowed(&some), "neither");
    for (size_t bit = 0; bit < 128; bit++) {
        some.trace_id[bit / 8] = (uint8_t)(1 << bit % 8);
        cr_expect_not(otelctx_ids_allowed(&some), "no span, bit %zu", bit);
        some.span_id[bit % 8] = 0x80;
        cr_expect(otelctx_ids_allowed(&some), "both, bit %zu", bit);
        some.span_id[bit % 8] = 0;
        some.trace_id[bit / 8] = 0;
    }
    for (size_t bit = 0; bit < 64; bit++) {
        some.span_id[bit / 8] = (uint8_t)(1 << bit % 8);
        cr_expect_not(otelctx_ids_allowed(&some), "no trace, bit %zu", bit);
        some.span_id[bit / 8] = 0;
    }
}

/* A first, a middle and a last attribute. */
static void three(void)
{
    otelctx_record_write(record, &ids);
    cr_expect_eq(set(1, "one"), 0);
    cr_expect_eq(set(2, "two"), 0);
    cr_expect_eq(set(3, "three"), 0);
    HAS("\1\3one\2\3two\3\5three");
}

Test(record, replaces_a_value_by_a_longer_one)
{
    three();
    cr_expect_eq(set(1, "uno..."), 0);
    HAS("\1\6uno...\2\3two\3\5three");
    cr_expect_eq(set(2, "due..."), 0);
    HAS("\1\6uno...\2\6due...\3\5three");
    cr_expect_eq(set(3, "tre..."), 0);
    HAS("\1\6uno...\2\6due...\3\6tre...");
}

Test(record, replaces_a_value_by_a_shorter_one)
{
    three();
    cr_expect_eq(set(1, "1"), 0);
    HAS("\1\1"
        "1\2\3two\3\5three");
    cr_expect_eq(set(2, ""), 0);
    HAS("\1\1"
        "1\2\0\3\5three");
    cr_expect_eq(set(3, "3"), 0);
    HAS("\1\1"
        "1\2\0\3\1"
        "3");
}

Test(record, replaces_a_value_by_one_of_the_same_length)
{
    three();
    cr_expect_eq(set(1, "ONE"), 0);
    cr_expect_eq(set(2, "TWO"), 0);
    cr_expect_eq(set(3, "THREE"), 0);
    HAS("\1\3ONE\2\3TWO\3\5THREE");
}

Test(record, removes_one_attribute_and_keeps_the_others)
{
    three();
    cr_expect_eq(unset(1), 0);
    HAS("\2\3two\3\5three");
    three();
    cr_expect_eq(unset(2), 0);
    HAS("\1\3one\3\5three");
    three();
    cr_expect_eq(unset(3), 0);
    HAS("\1\3one\2\3two");
    cr_expect_eq(unset(2), 0);
    cr_expect_eq(unset(1), 0);
    HAS("");
}

Test(record, without_an_attribute_has_nothing_to_remove)
{
    remember();
    cr_expect_eq(unset(1), 0);
    cr_expect(unchanged());
    three();
    remember();
    cr_expect_eq(unset(0), 0);
    cr_expect_eq(unset(4), 0);
    cr_expect_eq(unset(255), 0);
    cr_expect(unchanged());
}

Test(record, finds_keys_and_not_bytes_of_values_that_look_like_one)
{
    cr_expect_eq(set(1, "\2\1b\3"), 0);
    cr_expect_eq(set(3, "\1"), 0);
    cr_expect_eq(set(2, "new"), 0);
    HAS("\1\4\2\1b\3\3\1\1\2\3new");
}

Test(record, takes_every_key_index)
{
    for (unsigned key = 0; key <= UINT8_MAX; key++)
        cr_expect_eq(set((uint8_t)key, ""), 0);
    cr_expect_eq(record->attrs_size, 512);
    for (unsigned key = 0; key <= UINT8_MAX; key++)
        cr_expect_eq(unset((uint8_t)key), 0);
    cr_expect_eq(record->attrs_size, 0);
}

Test(record, that_is_full_refuses_more_and_keeps_every_byte)
{
    fill();
    remember();
    cr_expect_eq(set(3, ""), -ENOSPC);
    cr_expect_eq(set_many(2, 'z', 97), -ENOSPC);
    cr_expect_eq(set_many(2, 'z', 255), -ENOSPC);
    cr_expect(unchanged());
    cr_expect_eq(set_many(2, 'Z', 95), 0);
    cr_expect_eq(set(3, ""), -ENOSPC);
    cr_expect_eq(set_many(2, 'Z', 94), 0);
    cr_expect_eq(set(3, ""), 0);
    cr_expect_eq(record->attrs_size, ATTRS_MAX);
}

Test(record, refuses_the_first_byte_too_many)
{
    cr_expect_eq(set_many(0, 'x', 255), 0);
    cr_expect_eq(set_many(1, 'y', 255), 0);
    remember();
    cr_expect_eq(set_many(2, 'z', 97), -ENOSPC);
    cr_expect(unchanged());
    cr_expect_eq(set_many(2, 'z', 96), 0);
}

Test(record, that_is_full_still_takes_values_of_the_same_length)
{
    fill();
    cr_expect_eq(set_many(0, 'X', 255), 0);
    cr_expect_eq(set_many(1, 'Y', 255), 0);
    cr_expect_eq(record->attrs_size, ATTRS_MAX);
    cr_expect_eq(set_many(0, 'x', 255), 0);
    cr_expect_eq(set_many(1, 'y', 255), 0);
    expect_golden("record_full");
}

Test(record, that_is_full_keeps_what_is_behind_a_change)
{
    struct otelctx_span rest = {(const char *)record->attrs + 257, 355};
    char before[355];

    fill();
    memcpy(before, rest.at, sizeof(before));
    cr_expect_eq(set(0, "x"), 0);
    rest.at = (const char *)record->attrs + 3;
    cr_expect_eq(record->attrs_size, 3 + 355);
    cr_expect(otelctx_span_equal(rest, (struct otelctx_span){before, 355}));
    cr_expect_eq(set_many(0, 'x', 255), 0);
    expect_golden("record_full");
}

Test(record, of_several_values_of_a_key_replaces_the_one_that_counts)
{
    put_raw(OTELCTX_SPAN("\1\3old\2\1b\1\3now"));
    cr_expect_eq(set(1, "new"), 0);
    HAS("\1\3old\2\1b\1\3new");
}

Test(change, is_planned_without_being_made)
{
    struct otelctx_change c;

    three();
    remember();
    cr_expect_eq(otelctx_change_plan(record, 2, &OTELCTX_SPAN("zwei"), &c), 0);
    cr_expect_eq(c.at, 5);
    cr_expect_eq(c.removed, 5);
    cr_expect_eq(c.added, 6);
    cr_expect_eq(otelctx_change_plan(record, 4, &OTELCTX_SPAN("vier"), &c), 0);
    cr_expect_eq(c.at, 17);
    cr_expect_eq(c.removed, 0);
    cr_expect_eq(c.added, 6);
    cr_expect(unchanged());
}

/* Attributes that another writer may have left in a record. */
static const struct otelctx_span malformed[] = {
    OTELCTX_SPAN_INIT("\1"),            /* no length */
    OTELCTX_SPAN_INIT("\1\1"),          /* no value */
    OTELCTX_SPAN_INIT("\1\3ab"),        /* half a value */
    OTELCTX_SPAN_INIT("\1\377ab"),      /* far too long */
    OTELCTX_SPAN_INIT("\2\2ab\1"),      /* the second one: no length */
    OTELCTX_SPAN_INIT("\2\2ab\1\1"),    /* no value */
    OTELCTX_SPAN_INIT("\1\2ab\1\3ab"),  /* half a value */
    OTELCTX_SPAN_INIT("\1\0\1\0\1\0x"), /* too much at the end */
};

static void refuse_changes(const char *what, size_t row)
{
    const struct otelctx_change before = {.at = 4711};
    struct otelctx_change c = before;

    remember();
    cr_expect_eq(set(1, "new"), -EINVAL, "%s %zu", what, row);
    cr_expect_eq(set(9, ""), -EINVAL, "%s %zu", what, row);
    cr_expect_eq(unset(1), -EINVAL, "%s %zu", what, row);
    cr_expect_eq(unset(9), -EINVAL, "%s %zu", what, row);
    cr_expect(unchanged(), "%s %zu", what, row);
    cr_expect_eq(otelctx_change_plan(record, 1, NULL, &c), -EINVAL);
    cr_expect_eq(memcmp(&c, &before, sizeof(c)), 0, "%s %zu: output changed",
                 what, row);
}

Test(record, with_an_incomplete_attribute_is_left_alone)
{
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        put_raw(malformed[i]);
        refuse_changes("row", i);
    }
}

Test(record, whose_size_is_beyond_its_end_is_left_alone)
{
    static const uint16_t sizes[] = {613, 614, 640, 641, 0x8000, 0xffff};

    memset(record->attrs, 0, sizeof(record->attrs)); /* empty ones, many */
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        record->attrs_size = sizes[i];
        refuse_changes("size", sizes[i]);
    }
    record->attrs_size = ATTRS_MAX;
    cr_expect_eq(set(9, ""), -ENOSPC);
    cr_expect_eq(set(0, ""), 0);
}

/* Must the record be hidden to set a value (NULL: to remove it)? */
static bool needs_hiding(uint8_t key, const char *text)
{
    const struct otelctx_span value = otelctx_span_from(text ? text : "");
    struct otelctx_change c;

    cr_assert_eq(otelctx_change_plan(record, key, text ? &value : NULL, &c), 0);
    return otelctx_change_needs_hiding(record, &c);
}

Test(change, that_appends_can_be_made_in_full_view)
{
    cr_expect_not(needs_hiding(1, "value"));
    cr_expect_not(needs_hiding(1, ""));
    three();
    cr_expect_not(needs_hiding(0, "value"));
    cr_expect_not(needs_hiding(4, ""));
}

Test(change, that_replaces_can_not)
{
    three();
    for (uint8_t key = 1; key <= 3; key++) {
        cr_expect(needs_hiding(key, "longer than before"), "%u", key);
        cr_expect(needs_hiding(key, ""), "%u", key);
    }
    cr_expect(needs_hiding(1, "ONE"));
    cr_expect(needs_hiding(3, "THREE"));
}

Test(change, that_removes_the_last_one_can_be_made_in_full_view)
{
    three();
    cr_expect_not(needs_hiding(3, NULL));
    cr_expect(needs_hiding(1, NULL));
    cr_expect(needs_hiding(2, NULL));
    otelctx_record_write(record, &ids);
    cr_expect_eq(set(1, "the only one"), 0);
    cr_expect_not(needs_hiding(1, NULL));
}

Test(change, of_nothing_can_be_made_in_full_view)
{
    cr_expect_not(needs_hiding(1, NULL));
    three();
    cr_expect_not(needs_hiding(4, NULL));
}

/* Cut a value, in memory without spare bytes, so that ASan and valgrind see a
 * read beyond it. Returns the size afterwards, or the error. */
static long cut(const char *text, size_t size)
{
    char *exact = malloc(size ? size : 1);
    struct otelctx_span value = {exact, size};
    int got;

    memcpy(exact, text, size);
    got = otelctx_value_cut(&value);
    cr_expect_eq(value.at, exact);
    cr_expect_eq(got == 1, value.size < size, "it returned %d", got);
    free(exact);
    return got < 0 ? got : (long)value.size;
}

/* Cut a value of `size` bytes: `ascii` times "x", then one character repeated.
 */
static long cut_made_of(size_t ascii, const char *character, size_t size)
{
    const size_t width = strlen(character);
    char text[PLENTY];

    memset(text, 'x', ascii);
    for (size_t i = ascii; i < size; i++)
        text[i] = character[(i - ascii) % width];
    return cut(text, size);
}

static const char *const characters[] = {"y", "\u00e9", "\u20ac", "\U0001f408"};

Test(value, of_255_bytes_and_less_is_whole)
{
    cr_expect_eq(cut("", 0), 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t count = 0; count * (i + 1) <= 255; count++) {
            const size_t size = count * (i + 1);

            cr_expect_eq(cut_made_of(0, characters[i], size), (long)size);
            cr_expect_eq(cut_made_of(255 - size, characters[i], 255), 255);
        }
}

Test(value, that_is_longer_is_cut_between_two_characters)
{
    for (size_t i = 0; i < 4; i++)
        for (size_t ascii = 240; ascii <= 255; ascii++) {
            const size_t width = i + 1;
            const size_t whole = ascii + (255 - ascii) / width * width;

            for (size_t more = whole + width; more < 600; more += width)
                cr_expect_eq(cut_made_of(ascii, characters[i], more),
                             more <= 255 ? (long)more : (long)whole,
                             "%zu bytes, a character of %zu at %zu", more,
                             width, ascii);
        }
}

Test(value, that_is_not_utf8_is_refused_wherever_it_goes_wrong)
{
    static const struct otelctx_span bad[] = {
        OTELCTX_SPAN_INIT("\x80"),          OTELCTX_SPAN_INIT("\xc3"),
        OTELCTX_SPAN_INIT("\xc3x"),         OTELCTX_SPAN_INIT("\xe2\x82"),
        OTELCTX_SPAN_INIT("\xed\xa0\x80"),  OTELCTX_SPAN_INIT("\xf0\x9f\x90"),
        OTELCTX_SPAN_INIT("\xf0\x9f\x90x"), OTELCTX_SPAN_INIT("\xff"),
    };
    char text[PLENTY];

    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (size_t at = 0; at <= 255; at++) {
            memcpy(text + at, bad[i].at, bad[i].size);
            cr_expect_eq(cut(text, at + bad[i].size), -EINVAL, "%zu at %zu", i,
                         at);
            if (at <= 250)
                cr_expect_eq(cut(text, 300), -EINVAL, "%zu at %zu", i, at);
            memset(text + at, 'x', bad[i].size);
        }
}

/* The bytes that cross the limit must be a valid character. */
Test(value, that_is_not_utf8_at_the_limit_is_refused)
{
    for (size_t i = 1; i < 4; i++) {
        const size_t width = i + 1;

        for (size_t inside = 1; inside < width; inside++) {
            char text[PLENTY];

            memset(text, 'x', sizeof(text));
            memcpy(text + 255 - inside, characters[i], width);
            cr_expect_eq(cut(text, 300), 255 - (long)inside);
            text[255 - inside + width - 1] = 'x';
            cr_expect_eq(cut(text, 300), -EINVAL, "%zu of %zu", inside, width);
        }
    }
}
