/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/msgpack.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct otelread_decoded decoded;
static struct otelread_fault fault;

#define DECODE(text)                                                           \
    (otelread_decoded_free(&decoded),                                          \
     otelread_msgpack_decode((const uint8_t *)(text), sizeof(text) - 1,        \
                             &decoded, &fault))

#define EXPECT_FAULT(text, byte, words)                                        \
    do {                                                                       \
        cr_expect_eq(DECODE(text), -EBADMSG);                                  \
        cr_expect_eq(fault.offset, (byte), "at byte %zu", fault.offset);       \
        cr_expect(strstr(fault.why, (words)), "says %s", fault.why);           \
    } while (0)

static void expect_pair(const struct otelread_node *node, const char *key,
                        const char *value)
{
    cr_assert(node);
    cr_expect_eq(node->kind, OTELREAD_STRING);
    cr_expect_eq(node->key.size, strlen(key));
    cr_expect_arr_eq(node->key.bytes, key, strlen(key));
    cr_expect_eq(node->span.size, strlen(value));
    cr_expect_arr_eq(node->span.bytes, value, strlen(value));
}

Test(reader_msgpack, a_map_of_strings_is_the_resource)
{
    cr_assert_eq(DECODE("\x82\xa1k\xa2vw\xa1l\xa0"), 0);
    cr_expect_eq(decoded.resource.count, 2);
    expect_pair(decoded.resource.first, "k", "vw");
    expect_pair(decoded.resource.last, "l", "");
    cr_expect_eq(decoded.extra.count, 0);
}

Test(reader_msgpack, maps_and_strings_of_every_size_are_decoded)
{
    cr_assert_eq(DECODE("\xde\0\x01\xd9\x01k\xda\0\x01v"), 0);
    expect_pair(decoded.resource.first, "k", "v");
    cr_assert_eq(DECODE("\xdf\0\0\0\x01\xdb\0\0\0\x01k\xa1v"), 0);
    expect_pair(decoded.resource.first, "k", "v");
    cr_assert_eq(DECODE("\x80"), 0);
    cr_expect_eq(decoded.resource.count, 0);
}

Test(reader_msgpack, a_truncated_payload_is_a_fault)
{
    EXPECT_FAULT("\xde\0", 2, "a size is cut off");
    EXPECT_FAULT("\x82\xa1k\xa1v", 5, "a size is cut off");
    EXPECT_FAULT("\x81\xa1k\xa2v", 5, "a string is cut off");
    EXPECT_FAULT("\xdf\xff\xff\xff\xff\xa1k\xdb\xff\xff\xff\xff", 12,
                 "a string is cut off");
}

Test(reader_msgpack, anything_else_is_a_fault)
{
    EXPECT_FAULT("\x0a\x01", 0, "no MessagePack map (0x0a)");
    EXPECT_FAULT("\x81\x01\xa1v", 1, "no MessagePack string (0x01)");
    EXPECT_FAULT("\x81\xa1k\xc0", 3, "no MessagePack string (0xc0)");
    EXPECT_FAULT("\x81\xa1k\xa2v\xff", 5, "invalid UTF-8 (0xff)");
}
