/* SPDX-License-Identifier: Apache-2.0 */
#include "config/utf8.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

static size_t valid(const uint8_t *bytes, size_t size)
{
    return otelctx_utf8_valid((struct otelctx_span){(const char *)bytes, size});
}

static size_t valid_text(struct otelctx_span text)
{
    return otelctx_utf8_valid(text);
}

/*
 * The oracle: what a character's bits say first, whether that is allowed
 * afterwards. Returns the size of the character at the start, or 0.
 */
static size_t oracle(const uint8_t *bytes, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = 0;
    uint32_t code;

    while (length < 8 && bytes[0] & 0x80 >> length)
        length++;
    if (length == 0)
        return 1;
    if (length == 1 || length > 4 || length > size)
        return 0;
    code = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (code < least[length] || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}

static size_t oracle_valid(const uint8_t *bytes, size_t size)
{
    size_t at = 0, used = 1;

    while (at < size && used > 0)
        at += used = oracle(bytes + at, size - at);
    return at;
}

static bool agrees(const uint8_t *bytes, size_t size)
{
    return valid(bytes, size) == oracle_valid(bytes, size);
}

Test(utf8, every_byte_alone)
{
    for (unsigned first = 0; first < 0x100; first++) {
        const uint8_t bytes[] = {(uint8_t)first};

        cr_expect_eq(valid(bytes, 1), first < 0x80, "%02x", first);
    }
}

Test(utf8, every_two_bytes)
{
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        const uint8_t bytes[] = {(uint8_t)(pair >> 8), (uint8_t)pair};

        cr_assert(agrees(bytes, 2), "%04x", pair);
    }
}

Test(utf8, every_three_bytes)
{
    for (unsigned three = 0; three < 0x1000000; three++) {
        const uint8_t bytes[] = {(uint8_t)(three >> 16), (uint8_t)(three >> 8),
                                 (uint8_t)three};

        if (!agrees(bytes, 3))
            cr_assert_fail("%06x", three);
    }
}

Test(utf8, four_bytes_at_every_boundary)
{
    static const uint8_t edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                    0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xff};
    const size_t count = sizeof(edges);

    for (unsigned first = 0; first < 0x100; first++)
        for (size_t i = 0; i < count * count * count; i++) {
            const uint8_t bytes[] = {(uint8_t)first, edges[i / count / count],
                                     edges[i / count % count],
                                     edges[i % count]};

            if (!agrees(bytes, 4))
                cr_assert_fail("%02x %02x %02x %02x", bytes[0], bytes[1],
                               bytes[2], bytes[3]);
        }
}

/* Unicode, table 3-7: the first and the last of each row, and what is just
 * outside of it. */
Test(utf8, the_table_of_unicode)
{
    static const struct {
        struct otelctx_span text;
        bool valid;
    } rows[] = {
        {OTELCTX_SPAN_INIT("\x00"), true},
        {OTELCTX_SPAN_INIT("\x7f"), true},
        {OTELCTX_SPAN_INIT("\xc1\xbf"), false},
        {OTELCTX_SPAN_INIT("\xc2\x80"), true},
        {OTELCTX_SPAN_INIT("\xc2\x7f"), false},
        {OTELCTX_SPAN_INIT("\xdf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xdf\xc0"), false},
        {OTELCTX_SPAN_INIT("\xe0\x9f\xbf"), false},
        {OTELCTX_SPAN_INIT("\xe0\xa0\x80"), true},
        {OTELCTX_SPAN_INIT("\xe0\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xe1\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xe1\x7f\x80"), false},
        {OTELCTX_SPAN_INIT("\xec\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xec\xbf\xc0"), false},
        {OTELCTX_SPAN_INIT("\xed\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xed\x9f\xbf"), true},
        {OTELCTX_SPAN_INIT("\xed\xa0\x80"), false},
        {OTELCTX_SPAN_INIT("\xed\xbf\xbf"), false},
        {OTELCTX_SPAN_INIT("\xee\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xef\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xef\xc0\x80"), false},
        {OTELCTX_SPAN_INIT("\xf0\x8f\xbf\xbf"), false},
        {OTELCTX_SPAN_INIT("\xf0\x90\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xf0\xbf\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xf1\x80\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xf3\xbf\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xf3\xbf\xbf\x7f"), false},
        {OTELCTX_SPAN_INIT("\xf4\x80\x80\x80"), true},
        {OTELCTX_SPAN_INIT("\xf4\x8f\xbf\xbf"), true},
        {OTELCTX_SPAN_INIT("\xf4\x90\x80\x80"), false},
        {OTELCTX_SPAN_INIT("\xf5\x80\x80\x80"), false},
        {OTELCTX_SPAN_INIT("\xf8\x88\x80\x80\x80"), false},
        {OTELCTX_SPAN_INIT("\xfc\x84\x80\x80\x80\x80"), false},
        {OTELCTX_SPAN_INIT("\xfe"), false},
        {OTELCTX_SPAN_INIT("\xff"), false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(valid_text(rows[i].text),
                     rows[i].valid ? rows[i].text.size : 0, "row %zu", i);
}

Test(utf8, what_comes_before_a_bad_character_counts)
{
    cr_expect_eq(valid_text(OTELCTX_SPAN("")), 0);
    cr_expect_eq(valid_text((struct otelctx_span){NULL, 0}), 0);
    cr_expect_eq(valid_text(OTELCTX_SPAN("abc")), 3);
    cr_expect_eq(valid_text(OTELCTX_SPAN("abc\xff"
                                         "def")),
                 3);
    cr_expect_eq(valid_text(OTELCTX_SPAN("\u00e9\u20ac\U0001f408\x80")), 9);
    cr_expect_eq(valid_text(OTELCTX_SPAN("a\xe2\x82")), 1);
    cr_expect_eq(valid_text(OTELCTX_SPAN("a\xe2\x82z")), 1);
    cr_expect_eq(valid_text(OTELCTX_SPAN("\xf0\x9f\x90")), 0);
}

Test(utf8, random_bytes)
{
    /* Of these random bytes some are a character and most are nearly one. */
    static const uint8_t likely[] = {0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc2,
                                     0xe0, 0xe2, 0xed, 0xf0, 0xf4};
    unsigned seed = 4719;

    for (unsigned round = 0; round < 100000; round++) {
        const size_t size = (size_t)rand_r(&seed) % 12;
        uint8_t *bytes = malloc(size);
        bool same;

        for (size_t i = 0; i < size; i++)
            bytes[i] = likely[(size_t)rand_r(&seed) % sizeof(likely)];
        same = agrees(bytes, size);
        free(bytes);
        cr_assert(same, "round %u", round);
    }
}
