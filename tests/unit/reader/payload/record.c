/* SPDX-License-Identifier: Apache-2.0 */

/* OTEP 4947, "Thread-Local Context Record", rule by rule, on literal bytes. */
#include "demo/reader/payload/record.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TRACE "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"
#define SPAN  "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"
#define ZERO8 "\0\0\0\0\0\0\0\0"

/* uint16, in host order. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SIZE(low, high) low high
#else
#define SIZE(low, high) high low
#endif

/* Ids, valid, flags; the size and the attributes follow. */
#define VALID TRACE SPAN "\x01\x01"

static struct otelread_keymap map;
static struct otelread_record record;
static struct otelread_meaning meaning;
static char why[384];

static struct otelread_span span_of(const char *text)
{
    return (struct otelread_span){(const uint8_t *)text, strlen(text)};
}

/* Three keys: zero, one, two. */
static void map_build(void)
{
    map = (struct otelread_keymap){
        .keys = {span_of("zero"), span_of("one"), span_of("two")}, .count = 3};
}

static void free_meaning(void)
{
    otelread_meaning_free(&meaning);
}

TestSuite(reader_record, .init = map_build, .fini = free_meaning);

static void decode_record(void)
{
    free_meaning();
    cr_assert_eq(
        otelread_record_decode(&record, &map, &meaning, why, sizeof(why)), 0);
}

static void decode(const char *bytes, size_t size)
{
    const size_t head = sizeof(record.head);

    record = (struct otelread_record){.address = 0x1000};
    cr_assert(size >= head && size <= OTELCTX_RECORD_SIZE);
    memcpy(&record.head, bytes, head);
    memcpy(record.attrs, bytes + head, size - head);
    decode_record();
}

#define DECODE(bytes) decode((bytes), sizeof(bytes) - 1)

/* The attributes as text: "zero=a one=b". */
static const char *attributes(void)
{
    static char text[2048];
    size_t used = 0;

    text[0] = '\0';
    for (const struct otelread_node *node = meaning.attributes.first; node;
         node = node->next) {
        cr_expect_eq(node->kind, OTELREAD_STRING);
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s%.*s=%.*s", used > 0 ? " " : "",
                                 (int)node->key.size, node->key.bytes,
                                 (int)node->span.size, node->span.bytes);
    }
    return text;
}

#define EXPECT(expected_verdict, expected_attributes, expected_why)            \
    do {                                                                       \
        cr_expect_eq(meaning.verdict, (expected_verdict));                     \
        cr_expect_str_eq(attributes(), (expected_attributes));                 \
        cr_expect_str_eq(why, (expected_why));                                 \
    } while (0)

/* ---- the head ----------------------------------------------------------- */

Test(reader_record, the_head_is_28_packed_bytes_in_host_order)
{
    DECODE(TRACE SPAN "\x01\x03" SIZE("\x00", "\x00"));
    cr_expect_arr_eq(record.head.trace_id, TRACE, 16);
    cr_expect_arr_eq(record.head.span_id, SPAN, 8);
    cr_expect_eq(record.head.trace_flags, 3);
    cr_expect_eq(record.head.attrs_size, 0);
    EXPECT(OTELREAD_RECORD_VALID, "", "");
}

Test(reader_record, the_attributes_begin_at_offset_28)
{
    DECODE(VALID SIZE("\x05", "\x00") "\x00\x03/ab");
    EXPECT(OTELREAD_RECORD_VALID, "zero=/ab", "");
}

Test(reader_record, a_record_counts_only_when_valid_is_exactly_1)
{
    for (unsigned valid = 0; valid < 256; valid++) {
        char bytes[] = VALID SIZE("\x05", "\x00") "\x00\x03/ab";

        bytes[24] = (char)valid;
        DECODE(bytes);
        cr_expect_eq(meaning.verdict, valid == 1 ? OTELREAD_RECORD_VALID
                                                 : OTELREAD_RECORD_INVALID);
        cr_expect_eq(meaning.attributes.count, valid == 1 ? 1 : 0);
        cr_expect_eq(why[0] == '\0', valid < 2, "%u", valid);
    }
    cr_expect_str_eq(why, "valid is 255");
}

Test(reader_record, an_invalid_record_is_not_checked_further)
{
    DECODE(TRACE ZERO8 "\x00\x01" SIZE("\xff", "\xff"));
    EXPECT(OTELREAD_RECORD_INVALID, "", "");
}

Test(reader_record, a_record_starts_at_an_even_address)
{
    DECODE(VALID SIZE("\x03", "\x00") "\x00\x01x");
    record.address = 0x1002;
    decode_record();
    EXPECT(OTELREAD_RECORD_VALID, "zero=x", "");
    record.address = 0x1003;
    decode_record();
    EXPECT(OTELREAD_RECORD_MALFORMED, "zero=x", "its address 0x1003 is odd");
}

Test(reader_record, zeroes_mean_that_there_is_no_trace)
{
    DECODE(ZERO8 ZERO8 ZERO8 "\x01\x00" SIZE("\x03", "\x00") "\x02\x01x");
    EXPECT(OTELREAD_RECORD_VALID, "two=x", "");
}

Test(reader_record, if_either_id_is_set_both_must_be)
{
    DECODE(TRACE ZERO8 "\x01\x01" SIZE("\x03", "\x00") "\x02\x01x");
    EXPECT(OTELREAD_RECORD_MALFORMED, "two=x", "a trace id without a span id");
    DECODE(ZERO8 ZERO8 SPAN "\x01\x01" SIZE("\x00", "\x00"));
    EXPECT(OTELREAD_RECORD_MALFORMED, "", "a span id without a trace id");
}

Test(reader_record, trace_flags_are_zero_if_the_ids_are_unset)
{
    DECODE(ZERO8 ZERO8 ZERO8 "\x01\x02" SIZE("\x00", "\x00"));
    EXPECT(OTELREAD_RECORD_MALFORMED, "", "trace flags without a trace");
}

/* ---- the size ----------------------------------------------------------- */

Test(reader_record, only_attrs_data_size_bytes_are_attributes)
{
    DECODE(VALID SIZE("\x03", "\x00") "\x00\x01x\x01\x01y");
    EXPECT(OTELREAD_RECORD_VALID, "zero=x", "");
}

Test(reader_record, a_record_of_640_bytes_is_read_whole)
{
    char bytes[OTELCTX_RECORD_SIZE + 1] = VALID SIZE("\x64", "\x02");

    /* 612 = 2 * (2 + 255) + 2 + 96 */
    bytes[28 + 1] = '\xff';
    bytes[28 + 257] = 1;
    bytes[28 + 258] = '\xff';
    bytes[28 + 514] = 2;
    bytes[28 + 515] = 96;
    cr_assert_eq(otelread_record_attrs_size(
                     &(struct otelctx_record_head){.attrs_size = 612}),
                 612);
    DECODE(bytes);
    cr_expect_eq(meaning.verdict, OTELREAD_RECORD_VALID, "%s", why);
    cr_assert_eq(meaning.attributes.count, 3);
    cr_expect_eq(meaning.attributes.first->span.size, 255);
    cr_expect_eq(meaning.attributes.last->span.size, 96);
}

Test(reader_record, of_a_longer_record_no_more_than_640_bytes_are_read)
{
    char bytes[OTELCTX_RECORD_SIZE + 1] = VALID SIZE("\x65", "\x02") "\x01\x01"
                                                                     "a";

    for (size_t i = 31; i < sizeof(bytes) - 1; i += 3)
        (void)snprintf(bytes + i, 4, "\x01\x01z");
    DECODE(bytes);
    EXPECT(OTELREAD_RECORD_MALFORMED, "one=z",
           "its attributes take 613 bytes, of which only 612 are read; "
           "key index 1: more than once, and the last counts");
    cr_expect_eq(otelread_record_attrs_size(&record.head), 612);
}

Test(reader_record, attributes_that_cannot_be_read_leave_the_ids)
{
    DECODE(VALID SIZE("\x05", "\x00") "\x00\x03/ab");
    record.attrs_missing = true;
    decode_record();
    EXPECT(OTELREAD_RECORD_MALFORMED, "",
           "its attributes (5 bytes) cannot be read");
}

/* ---- entries ------------------------------------------------------------ */

Test(reader_record, entries_follow_each_other_without_padding)
{
    DECODE(VALID SIZE("\x0a", "\x00") "\x02\x01x\x00\x00\x01\x03yyy");
    EXPECT(OTELREAD_RECORD_VALID, "two=x zero= one=yyy", "");
}

Test(reader_record, parsing_stops_at_an_incomplete_entry)
{
    DECODE(VALID SIZE("\x04", "\x00") "\x00\x01x\x01");
    EXPECT(OTELREAD_RECORD_MALFORMED, "zero=x",
           "attribute byte 3: an incomplete entry");
    DECODE(VALID SIZE("\x05", "\x00") "\x00\x01x\x01\x01");
    EXPECT(OTELREAD_RECORD_MALFORMED, "zero=x",
           "attribute byte 3: an incomplete entry");
    DECODE(VALID SIZE("\x05", "\x00") "\x00\xffxyz");
    EXPECT(OTELREAD_RECORD_MALFORMED, "",
           "attribute byte 0: an incomplete entry");
}

Test(reader_record, of_a_key_that_appears_more_than_once_the_last_counts)
{
    DECODE(VALID SIZE("\x0f", "\x00") "\x00\x01"
                                      "a\x01\x01"
                                      "b\x00\x01"
                                      "c\x02\x01"
                                      "d\x00\x01"
                                      "e");
    EXPECT(OTELREAD_RECORD_VALID, "one=b two=d zero=e",
           "key index 0: more than once, and the last counts");
}

Test(reader_record, an_incomplete_entry_does_not_replace_a_complete_one)
{
    DECODE(VALID SIZE("\x06", "\x00") "\x00\x01"
                                      "a\x00\x02"
                                      "b");
    EXPECT(OTELREAD_RECORD_MALFORMED, "zero=a",
           "attribute byte 3: an incomplete entry");
}

Test(reader_record, an_index_outside_of_the_map_is_ignored_after_a_refresh)
{
    DECODE(VALID SIZE("\x0c", "\x00") "\x00\x01x\x03\x01y\xff\x01z\x01\x01w");
    cr_expect(meaning.unknown_keys, "so the map is to be read again");
    EXPECT(OTELREAD_RECORD_VALID, "zero=x one=w",
           "key indexes 3, 255: not in the key map, and left out");

    map.keys[map.count++] = span_of("three");
    decode_record();
    cr_expect(meaning.unknown_keys);
    EXPECT(OTELREAD_RECORD_VALID, "zero=x three=y one=w",
           "key index 255: not in the key map, and left out");
}

Test(reader_record, a_known_index_needs_no_refresh)
{
    DECODE(VALID SIZE("\x03", "\x00") "\x02\x01x");
    cr_expect_not(meaning.unknown_keys);
}

Test(reader_record, an_index_whose_key_is_no_string_has_no_name)
{
    map.keys[1] = (struct otelread_span){NULL, 0};
    DECODE(VALID SIZE("\x06", "\x00") "\x01\x01x\x02\x01y");
    EXPECT(OTELREAD_RECORD_VALID, "two=y",
           "key index 1: not in the key map, and left out");
}

Test(reader_record, a_value_that_is_not_utf8_is_kept_and_reported)
{
    DECODE(VALID SIZE("\x07", "\x00") "\x00\x02\xc3\xa9\x01\x01\xff");
    EXPECT(OTELREAD_RECORD_VALID, "zero=\xc3\xa9 one=\xff",
           "key index 1: the value is not UTF-8");
}

Test(reader_record, all_256_keys_can_have_values)
{
    char bytes[OTELCTX_RECORD_SIZE + 1] = VALID SIZE("\x00", "\x02");

    map.count = OTELCTX_KEYS_MAX;
    for (unsigned i = 0; i < OTELCTX_KEYS_MAX; i++) {
        map.keys[i] = span_of("k");
        bytes[28 + 2 * i] = (char)i;
    }
    DECODE(bytes);
    cr_expect_eq(meaning.verdict, OTELREAD_RECORD_VALID, "%s", why);
    cr_expect_eq(meaning.attributes.count, 256);

    map.count = 0;
    decode_record();
    cr_expect_eq(meaning.attributes.count, 0);
    cr_expect(strstr(why, ", ...: not in the key map"), "%s", why);
}
