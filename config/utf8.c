/* SPDX-License-Identifier: Apache-2.0 */
#include "config/utf8.h"

#include <stdint.h>

/* Unicode, table 3-7: by first byte, the range of the second and the length. */
static const struct {
    uint8_t first, last;
    uint8_t low, high;
    uint8_t size;
} forms[] = {
    {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Return the size of the first character of the bytes, 0 when it is invalid. */
static size_t character(const uint8_t *at, size_t size)
{
    size_t i = 0;

    while (at[0] > forms[i].last)
        if (++i == sizeof(forms) / sizeof(forms[0]))
            return 0;
    if (at[0] < forms[i].first || size < forms[i].size)
        return 0;
    if (forms[i].size > 1 && (at[1] < forms[i].low || at[1] > forms[i].high))
        return 0;
    for (size_t more = 2; more < forms[i].size; more++)
        if ((at[more] & 0xc0) != 0x80)
            return 0;
    return forms[i].size;
}

size_t otelctx_utf8_valid(struct otelctx_span text)
{
    const uint8_t *bytes = (const uint8_t *)text.at;
    size_t valid = 0;

    while (valid < text.size) {
        const size_t size = bytes[valid] < 0x80
                                ? 1 /* nearly all bytes */
                                : character(bytes + valid, text.size - valid);

        if (size == 0)
            break;
        valid += size;
    }
    return valid;
}
