/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/utf8.h"

#include <stdbool.h>

/*
 * RFC 3629, "Syntax of UTF-8 Byte Sequences": what the first byte says about
 * the length and, where the second byte is restricted, about its range.
 */
static const struct {
    uint8_t first_min, first_max;
    uint8_t second_min, second_max;
    uint8_t length;
    uint8_t mask; /* bits of the first byte that belong to the code */
} forms[] = {
    {0x00, 0x7f, 0, 0, 1, 0x7f},       {0xc2, 0xdf, 0x80, 0xbf, 2, 0x1f},
    {0xe0, 0xe0, 0xa0, 0xbf, 3, 0x0f}, {0xe1, 0xec, 0x80, 0xbf, 3, 0x0f},
    {0xed, 0xed, 0x80, 0x9f, 3, 0x0f}, {0xee, 0xef, 0x80, 0xbf, 3, 0x0f},
    {0xf0, 0xf0, 0x90, 0xbf, 4, 0x07}, {0xf1, 0xf3, 0x80, 0xbf, 4, 0x07},
    {0xf4, 0xf4, 0x80, 0x8f, 4, 0x07},
};

static bool in_range(uint8_t byte, uint8_t min, uint8_t max)
{
    return byte >= min && byte <= max;
}

static size_t form_find(uint8_t first)
{
    size_t i = 0;

    while (i < sizeof(forms) / sizeof(forms[0]) &&
           !in_range(first, forms[i].first_min, forms[i].first_max))
        i++;
    return i;
}

size_t otelbase_utf8_next(const uint8_t *text, size_t size, uint32_t *code)
{
    if (size == 0)
        return 0;

    const size_t form = form_find(text[0]);
    if (form == sizeof(forms) / sizeof(forms[0]) || size < forms[form].length)
        return 0;

    uint32_t value = text[0] & forms[form].mask;
    for (size_t i = 1; i < forms[form].length; i++) {
        const uint8_t min = i == 1 ? forms[form].second_min : 0x80;
        const uint8_t max = i == 1 ? forms[form].second_max : 0xbf;

        if (!in_range(text[i], min, max))
            return 0;
        value = value << 6 | (text[i] & 0x3f);
    }
    *code = value;
    return forms[form].length;
}

size_t otelbase_utf8_span(const uint8_t *text, size_t size)
{
    uint32_t code;
    size_t at = 0;

    while (at < size) {
        const size_t length = otelbase_utf8_next(text + at, size - at, &code);

        if (length == 0)
            break;
        at += length;
    }
    return at;
}
