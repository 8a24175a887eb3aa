/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/decode.h"

#include "shim/wire/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct otelread_decoded decoded;
static struct otelread_fault fault;

#define DECODE(text)                                                           \
    otelread_decode((const uint8_t *)(text), sizeof(text) - 1, &decoded, &fault)

/* The literal is a payload with a fault at this byte, and this description. */
#define EXPECT_FAULT(text, byte, words)                                        \
    do {                                                                       \
        cr_expect_eq(DECODE(text), -EBADMSG);                                  \
        cr_expect_eq(fault.offset, (byte), "at byte %zu", fault.offset);       \
        cr_expect(strstr(fault.why, (words)), "says %s", fault.why);           \
        cr_expect_null(decoded.nodes);                                         \
    } while (0)

static bool span_is(struct otelread_span span, const char *text)
{
    return span.size == strlen(text) &&
           memcmp(span.bytes, text, span.size) == 0;
}

static void free_decoded(void)
{
    otelread_decoded_free(&decoded);
}

TestSuite(reader_decode, .fini = free_decoded);

/* Decodes an extra attribute "k" that has this AnyValue. */
static const struct otelread_node *value_of(const char *any, size_t size)
{
    static uint8_t payload[256];
    const uint8_t head[] = {0x12, (uint8_t)(size + 5), 0x0a, 0x01, 'k',
                            0x12, (uint8_t)size};

    cr_assert_lt(size, 120);
    memcpy(payload, head, sizeof(head));
    memcpy(payload + sizeof(head), any, size);
    otelread_decoded_free(&decoded);
    cr_assert_eq(
        otelread_decode(payload, sizeof(head) + size, &decoded, &fault), 0,
        "byte %zu: %s", fault.offset, fault.why);
    cr_assert_eq(decoded.extra.count, 1);
    return decoded.extra.first;
}

#define VALUE_OF(any) value_of((any), sizeof(any) - 1)

Test(reader_decode, an_empty_payload_is_an_empty_context)
{
    cr_expect_eq(DECODE(""), 0);
    cr_expect_eq(decoded.resource.count, 0);
    cr_expect_eq(decoded.extra.count, 0);
    cr_expect_eq(decoded.resource_dropped, 0);
}

Test(reader_decode, resource_and_extra_attributes_come_in_wire_order)
{
    cr_expect_eq(DECODE("\x0a\x14"
                        "\x0a\x08\x0a\x01z\x12\x03\x0a\x01"
                        "1"
                        "\x0a\x08\x0a\x01"
                        "a\x12\x03\x0a\x01"
                        "2"
                        "\x12\x08\x0a\x01x\x12\x03\x0a\x01"
                        "3"),
                 0);
    cr_assert_eq(decoded.resource.count, 2);
    cr_expect(span_is(decoded.resource.first->key, "z"));
    cr_expect(span_is(decoded.resource.first->span, "1"));
    cr_expect(span_is(decoded.resource.last->key, "a"));
    cr_expect(span_is(decoded.resource.last->span, "2"));
    cr_assert_eq(decoded.extra.count, 1);
    cr_expect(span_is(decoded.extra.first->key, "x"));
}

Test(reader_decode, every_kind_of_value_is_decoded)
{
    cr_expect_eq(VALUE_OF("")->kind, OTELREAD_EMPTY);
    cr_expect(span_is(VALUE_OF("\x0a\x02hi")->span, "hi"));
    cr_expect_eq(VALUE_OF("\x0a\x00")->kind, OTELREAD_STRING);
    cr_expect_eq(VALUE_OF("\x10\x01")->kind, OTELREAD_BOOL);
    cr_expect(decoded.extra.first->truth);
    cr_expect_not(VALUE_OF("\x10\x00")->truth);
    cr_expect_eq(VALUE_OF("\x18\x05")->integer, 5);
    cr_expect_eq(
        VALUE_OF("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")->integer, -1);
    cr_expect_eq(
        VALUE_OF("\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01")->integer,
        INT64_MIN);
    cr_expect_eq(VALUE_OF("\x21\0\0\0\0\0\0\x04\x40")->kind, OTELREAD_DOUBLE);
    cr_expect(decoded.extra.first->real >= 2.5 &&
              decoded.extra.first->real <= 2.5);
    cr_expect_eq(VALUE_OF("\x3a\x02\xff\x00")->kind, OTELREAD_BYTES);
    cr_expect_eq(decoded.extra.first->span.size, 2);
}

Test(reader_decode, arrays_and_lists_are_decoded)
{
    const struct otelread_node *node =
        VALUE_OF("\x2a\x06\x0a\x02\x18\x01\x0a\x00");

    cr_expect_eq(node->kind, OTELREAD_ARRAY);
    cr_assert_eq(node->list.count, 2);
    cr_expect_eq(node->list.first->integer, 1);
    cr_expect_eq(node->list.last->kind, OTELREAD_EMPTY);

    node = VALUE_OF("\x32\x09\x0a\x07\x0a\x01p\x12\x02\x10\x01");
    cr_expect_eq(node->kind, OTELREAD_KVLIST);
    cr_assert_eq(node->list.count, 1);
    cr_expect(span_is(node->list.first->key, "p"));
    cr_expect(node->list.first->truth);

    cr_expect_eq(VALUE_OF("\x2a\x00")->kind, OTELREAD_ARRAY);
    cr_expect_eq(decoded.extra.first->list.count, 0);
}

Test(reader_decode, repeated_resources_merge)
{
    cr_expect_eq(DECODE("\x0a\x07\x0a\x03\x0a\x01"
                        "a\x10\x05"
                        "\x0a\x07\x0a\x03\x0a\x01"
                        "b\x10\x07"),
                 0);
    cr_expect_eq(decoded.resource.count, 2);
    cr_expect_eq(decoded.resource_dropped, 7);
}

Test(reader_decode, of_a_repeated_key_the_last_wins)
{
    cr_expect_eq(DECODE("\x12\x06\x0a\x01"
                        "a\x0a\x01"
                        "b"),
                 0);
    cr_assert_eq(decoded.extra.count, 1);
    cr_expect(span_is(decoded.extra.first->key, "b"));
}

Test(reader_decode, of_a_oneof_the_last_member_wins)
{
    cr_expect_eq(VALUE_OF("\x0a\x01x\x18\x07")->kind, OTELREAD_INT);
    cr_expect_eq(decoded.extra.first->integer, 7);
    cr_expect_eq(VALUE_OF("\x2a\x02\x0a\x00\x10\x01\x2a\x00")->kind,
                 OTELREAD_ARRAY);
    cr_expect_eq(decoded.extra.first->list.count, 0, "not the first array's");
}

Test(reader_decode, repeated_values_and_arrays_merge)
{
    cr_expect_eq(VALUE_OF("\x2a\x04\x0a\x02\x18\x01\x2a\x04\x0a\x02\x18\x02")
                     ->list.count,
                 2);
    cr_expect_eq(DECODE("\x12\x0b\x0a\x01k\x12\x02\x18\x05\x12\x02\x10\x01"),
                 0);
    cr_expect_eq(decoded.extra.first->kind, OTELREAD_BOOL);
    cr_expect_eq(DECODE("\x12\x09\x0a\x01k\x12\x02\x18\x05\x12\x00"), 0);
    cr_expect_eq(decoded.extra.first->kind, OTELREAD_INT,
                 "an empty message changes nothing");
}

Test(reader_decode, the_value_may_come_before_the_key)
{
    cr_expect_eq(DECODE("\x12\x07\x12\x02\x18\x05\x0a\x01k"), 0);
    cr_expect(span_is(decoded.extra.first->key, "k"));
    cr_expect_eq(decoded.extra.first->integer, 5);
}

Test(reader_decode, an_attribute_without_key_or_value_is_empty)
{
    cr_expect_eq(DECODE("\x12\x00"), 0);
    cr_assert_eq(decoded.extra.count, 1);
    cr_expect_eq(decoded.extra.first->key.size, 0);
    cr_expect_eq(decoded.extra.first->kind, OTELREAD_EMPTY);
}

Test(reader_decode, unknown_fields_of_every_wire_type_are_skipped)
{
    cr_expect_eq(DECODE("\x78\x96\x01"
                        "\x79"
                        "12345678"
                        "\x7a\x03"
                        "abc"
                        "\x7d"
                        "1234"
                        "\xfa\xff\xff\xff\x0f\x01z"
                        "\x12\x03\x0a\x01k"),
                 0, "byte %zu: %s", fault.offset, fault.why);
    cr_expect_eq(decoded.extra.count, 1);
}

/* Resource { entity_refs { type "t", id_keys "a" "b", schema_url "u" } } */
#define ENTITY                                                                 \
    "\x0a\x0e\x1a\x0c\x12\x01t\x1a\x01"                                        \
    "a\x1a\x01"                                                                \
    "b\x0a\x01u"

Test(reader_decode, entity_refs_have_type_keys_and_schema)
{
    cr_assert_eq(DECODE(ENTITY "\x0a\x07\x1a\x05\x22\x03key"), 0);
    cr_assert_eq(decoded.entities_count, 2);

    const struct otelread_entity *const first = &decoded.entities[0];
    const struct otelread_entity *const second = &decoded.entities[1];
    cr_expect(span_is(first->type, "t"));
    cr_expect(span_is(first->schema_url, "u"));
    cr_assert_eq(first->id_keys.count, 2);
    cr_expect(span_is(first->id_keys.first->span, "a"));
    cr_expect(span_is(first->id_keys.last->span, "b"));
    cr_expect_eq(first->description_keys.count, 0);
    cr_expect_eq(second->type.size, 0);
    cr_assert_eq(second->description_keys.count, 1);
    cr_expect(span_is(second->description_keys.first->span, "key"));
}

Test(reader_decode, an_entity_ref_that_is_not_utf8_is_a_fault)
{
    EXPECT_FAULT("\x0a\x05\x1a\x03\x12\x01\xff", 6, "an entity reference");
    EXPECT_FAULT("\x0a\x04\x1a\x02\x10\x01", 4, "EntityRef.type has wire type");
}

Test(reader_decode, a_resource_alone_is_decoded_as_one)
{
    const char *const bytes = "\x0a\x08\x0a\x01k\x12\x03\x0a\x01v\x10\x02";

    cr_assert_eq(
        otelread_decode_resource((const uint8_t *)bytes, 12, &decoded, &fault),
        0);
    cr_assert_eq(decoded.resource.count, 1);
    cr_expect(span_is(decoded.resource.first->key, "k"));
    cr_expect(span_is(decoded.resource.first->span, "v"));
    cr_expect_eq(decoded.resource_dropped, 2);
}

Test(reader_decode, a_dropped_count_is_32_bits)
{
    cr_expect_eq(DECODE("\x0a\x06\x10\xff\xff\xff\xff\x0f"), 0);
    cr_expect_eq(decoded.resource_dropped, UINT32_MAX);
}

Test(reader_decode, a_cut_tag_length_or_number_is_a_fault)
{
    EXPECT_FAULT("\x80", 1, "field tag is cut off");
    EXPECT_FAULT("\x12", 1, "length is cut off");
    EXPECT_FAULT("\x12\x80", 2, "length is cut off");
    EXPECT_FAULT("\x78", 1, "number is cut off");
    EXPECT_FAULT("\x0a\x02\x10\x80\x00", 4, "number is cut off");
    EXPECT_FAULT("\x79"
                 "1234567",
                 1, "8 bytes is cut off after 7");
    EXPECT_FAULT("\x7d"
                 "123",
                 1, "4 bytes is cut off after 3");
}

Test(reader_decode, a_length_past_the_end_of_its_message_is_a_fault)
{
    EXPECT_FAULT("\x12\x01", 1, "length 1");
    EXPECT_FAULT("\x12\x03\x0a\x02k!", 3, "length 2");
    EXPECT_FAULT("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1, "length");
    EXPECT_FAULT("\x12\xff\xff\xff\xff\x0f", 1, "length 4294967295");
}

Test(reader_decode, a_number_longer_than_ten_bytes_is_a_fault)
{
    EXPECT_FAULT("\x78\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1,
                 "longer than 64 bits");
    EXPECT_FAULT("\x78\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 1,
                 "longer than 64 bits");
}

Test(reader_decode, field_number_zero_is_a_fault)
{
    EXPECT_FAULT("\x00\x00", 0, "field number 0");
    EXPECT_FAULT("\x12\x02\x02\x00", 2, "field number 0");
}

Test(reader_decode, a_field_number_above_29_bits_is_a_fault)
{
    EXPECT_FAULT("\x80\x80\x80\x80\x10\x00", 0, "too big");
}

Test(reader_decode, groups_are_a_fault)
{
    EXPECT_FAULT("\x7b\x7c", 0, "group");
    EXPECT_FAULT("\x7c", 0, "group");
}

Test(reader_decode, unknown_wire_types_are_a_fault)
{
    EXPECT_FAULT("\x7e", 0, "wire type 6");
    EXPECT_FAULT("\x7f", 0, "wire type 7");
}

Test(reader_decode, a_known_field_of_another_wire_type_is_a_fault)
{
    EXPECT_FAULT("\x08\x01", 0, "ProcessContext.resource");
    EXPECT_FAULT("\x12\x02\x08\x01", 2, "KeyValue.key");
    EXPECT_FAULT("\x12\x04\x12\x02\x1a\x00", 4, "AnyValue.int_value");
}

Test(reader_decode, invalid_utf8_is_a_fault_at_the_byte_that_is_wrong)
{
    EXPECT_FAULT("\x12\x05\x0a\x03"
                 "ab\xff",
                 6, "invalid UTF-8 (0xff)");
    EXPECT_FAULT("\x12\x09\x0a\x01k\x12\x04\x0a\x02"
                 "a\xc3",
                 10, "invalid UTF-8 (0xc3) in a string value");
}

Test(reader_decode, a_fault_names_the_attribute)
{
    EXPECT_FAULT("\x12\x08\x0a\x01k\x12\x03\x0a\x01\xff", 9, "UTF-8");
    cr_expect_str_eq(fault.where, "extra attribute \"k\"");
    EXPECT_FAULT("\x12\x08\x12\x03\x0a\x01\xff\x0a\x01k", 6, "UTF-8");
    cr_expect_str_eq(fault.where, "extra attribute \"k\"", "key behind value");
    EXPECT_FAULT("\x0a\x07\x0a\x05\x12\x03\x0a\x01\xff", 8, "UTF-8");
    cr_expect_str_eq(fault.where, "resource attribute number 1");
    EXPECT_FAULT("\x0a\x07\x0a\x05\x0a\x03"
                 "a\x1b\xff",
                 8, "UTF-8");
    cr_expect_str_eq(fault.where, "resource attribute \"a\\x1b\\xff\"");
}

/* Arrays inside each other; the innermost is empty. Returns the size. */
static size_t nest(uint8_t out[256], unsigned depth)
{
    uint8_t at[256];
    size_t size = 0;

    for (unsigned i = 0; i < depth; i++) {
        const size_t inner = size;

        memmove(at + 2, at, inner);
        at[0] = 0x2a;
        at[1] = (uint8_t)inner;
        size = inner + 2;
        memmove(at + 2, at, size);
        at[0] = i + 1 < depth ? 0x0a : 0x12;
        at[1] = (uint8_t)size;
        size += 2;
    }
    memcpy(out + 2, at, size);
    out[0] = 0x12;
    out[1] = (uint8_t)size;
    return size + 2;
}

Test(reader_decode, nesting_is_bounded)
{
    uint8_t payload[256];

    cr_expect_eq(otelread_decode(payload, nest(payload, OTELREAD_DEPTH_MAX),
                                 &decoded, &fault),
                 0, "byte %zu: %s", fault.offset, fault.why);
    otelread_decoded_free(&decoded);
    cr_expect_eq(otelread_decode(payload, nest(payload, OTELREAD_DEPTH_MAX + 1),
                                 &decoded, &fault),
                 -EBADMSG);
    cr_expect(strstr(fault.why, "inside each other"));
}

Test(reader_decode, the_most_attributes_that_fit_are_decoded)
{
    uint8_t *const payload = malloc(OTELCTX_PAYLOAD_MAX);

    for (size_t i = 0; i < OTELCTX_PAYLOAD_MAX; i += 2) {
        payload[i] = 0x12;
        payload[i + 1] = 0;
    }
    cr_expect_eq(
        otelread_decode(payload, OTELCTX_PAYLOAD_MAX, &decoded, &fault), 0);
    cr_expect_eq(decoded.extra.count, OTELCTX_PAYLOAD_MAX / 2);
    otelread_decoded_free(&decoded);
    free(payload);
}

Test(reader_decode, sorting_is_by_key_and_keeps_the_order_of_equals)
{
    cr_assert_eq(DECODE("\x12\x07\x0a\x01"
                        "b\x12\x02\x18\x01"
                        "\x12\x07\x0a\x01"
                        "a\x12\x02\x18\x02"
                        "\x12\x07\x0a\x01"
                        "b\x12\x02\x18\x03"
                        "\x12\x08\x0a\x02"
                        "ab\x12\x02\x18\x04"
                        "\x12\x04\x12\x02\x18\x05"),
                 0);
    const struct otelread_node **const sorted =
        otelread_list_sort(&decoded.extra);

    cr_assert_not_null(sorted);
    cr_expect_eq(sorted[0]->integer, 5);
    cr_expect_eq(sorted[1]->integer, 2);
    cr_expect_eq(sorted[2]->integer, 4);
    cr_expect_eq(sorted[3]->integer, 1);
    cr_expect_eq(sorted[4]->integer, 3);
    free(sorted);
}
