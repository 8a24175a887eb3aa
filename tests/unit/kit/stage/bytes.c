/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/stage/bytes.h"

#include <criterion/criterion.h>
#include <string.h>

static struct otelkit_bytes bytes;

#define EXPECT_BYTES(text)                                                     \
    do {                                                                       \
        cr_expect_eq(bytes.size, sizeof(text) - 1, "%zu", bytes.size);         \
        cr_expect_eq(memcmp(bytes.at, (text), sizeof(text) - 1), 0);           \
    } while (0)

Test(kit_bytes, a_number_takes_seven_bits_a_byte)
{
    otelkit_varint(&bytes, 0);
    otelkit_varint(&bytes, 127);
    otelkit_varint(&bytes, 128);
    otelkit_varint(&bytes, UINT64_MAX);
    EXPECT_BYTES("\0\x7f\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

Test(kit_bytes, a_message_has_its_length_in_front)
{
    otelkit_service(&bytes, "shop");
    EXPECT_BYTES("\x0a\x18\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop");
}

Test(kit_bytes, a_long_message_makes_room_for_its_length)
{
    char text[301];
    const size_t opened = otelkit_open(&bytes, 2);

    memset(text, 'x', 300);
    text[300] = '\0';
    otelkit_put(&bytes, text, 300);
    otelkit_close(&bytes, opened);
    cr_expect_eq(bytes.size, 303);
    cr_expect_eq(memcmp(bytes.at, "\x12\xac\x02xx", 5), 0);
    cr_expect_eq(bytes.at[302], 'x');
}

Test(kit_bytes, what_does_not_fit_is_dropped)
{
    bytes.size = sizeof(bytes.at) - 2;
    otelkit_put(&bytes, "abc", 3);
    cr_expect_eq(bytes.size, sizeof(bytes.at) - 2);
    otelkit_put(&bytes, "ab", 2);
    cr_expect_eq(bytes.size, sizeof(bytes.at));
}
