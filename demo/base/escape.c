/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/escape.h"

#include "demo/base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* C1 controls, line and paragraph separator, bidi overrides and isolates. */
static bool is_hazard(uint32_t code)
{
    return (code >= 0x80 && code <= 0x9f) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

static const char *short_form(uint32_t code)
{
    switch (code) {
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    default:
        return NULL;
    }
}

/* How many bytes at the start come out as they are, one column each. */
static size_t plain_span(const uint8_t *text, size_t size)
{
    size_t span = 0;

    while (span < size && text[span] >= 0x20 && text[span] < 0x7f &&
           text[span] != '"' && text[span] != '\\')
        span++;
    return span;
}

/* The character itself. */
static void keep(const uint8_t *text, size_t length,
                 char out[OTELBASE_ESCAPE_MAX])
{
    (void)memcpy(out, text, length);
    out[length] = '\0';
}

size_t otelbase_escape_next(const uint8_t *text, size_t size,
                            char out[OTELBASE_ESCAPE_MAX])
{
    uint32_t code = 0;
    const size_t length = otelbase_utf8_next(text, size, &code);

    if (size == 0)
        return 0;
    if (length == 0) {
        (void)snprintf(out, OTELBASE_ESCAPE_MAX, "\\x%02x", text[0]);
        return 1;
    }
    if (short_form(code))
        (void)snprintf(out, OTELBASE_ESCAPE_MAX, "%s", short_form(code));
    else if (code < 0x20 || code == 0x7f)
        (void)snprintf(out, OTELBASE_ESCAPE_MAX, "\\x%02x", (unsigned)code);
    else if (is_hazard(code))
        (void)snprintf(out, OTELBASE_ESCAPE_MAX, "\\u{%04x}", (unsigned)code);
    else
        keep(text, length, out);
    return length;
}

/* Unicode Standard Annex 11: what is wide, and some characters between. */
static bool is_wide(uint32_t code)
{
    static const struct {
        uint32_t first;
        uint32_t last;
    } wide[] = {
        {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},
        {0x23e9, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
        {0x2630, 0x2637},   {0x2648, 0x2653},   {0x267f, 0x27bf},
        {0x2b1b, 0x2b1c},   {0x2b50, 0x2b55},   {0x2e80, 0x303e},
        {0x3041, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},
        {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x1b2ff},
        {0x1d300, 0x1d376}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
        {0x1f18e, 0x1f1ff}, {0x1f200, 0x1faff}, {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        if (code >= wide[i].first && code <= wide[i].last)
            return true;
    }
    return false;
}

/* As otelbase_escape_next(), with the columns that the string takes. */
static size_t next(const uint8_t *text, size_t size,
                   char out[OTELBASE_ESCAPE_MAX], size_t *columns)
{
    const size_t taken = otelbase_escape_next(text, size, out);
    uint32_t code;

    (void)otelbase_utf8_next(text, size, &code);
    *columns = out[0] == '\\' ? strlen(out) : is_wide(code) ? 2 : 1;
    return taken;
}

size_t otelbase_escape_width(const void *text, size_t size)
{
    char one[OTELBASE_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t width = plain_span(bytes, size);
    size_t columns;

    for (size_t at = width; at < size;) {
        at += next(bytes + at, size - at, one, &columns);
        width += columns;
    }
    return width;
}

void otelbase_escape_print(FILE *out, const void *text, size_t size)
{
    otelbase_escape_print_start(out, text, size, size);
}

void otelbase_escape_print_start(FILE *out, const void *text, size_t size,
                                 size_t limit)
{
    char one[OTELBASE_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t at = plain_span(bytes, size < limit ? size : limit);

    (void)fwrite(bytes, 1, at, out);
    for (limit -= at; at < size && limit > 0; limit--) {
        at += otelbase_escape_next(bytes + at, size - at, one);
        (void)fputs(one, out);
    }
    if (at < size)
        (void)fputs("...", out);
}

void otelbase_escape_print_cut(FILE *out, const void *text, size_t size,
                               size_t columns)
{
    const size_t dots = columns > 3 ? 3 : 0;
    const bool fits = otelbase_escape_width(text, size) <= columns;
    char one[OTELBASE_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t room = fits ? columns : columns - dots;
    size_t width;

    for (size_t at = 0; at < size;) {
        at += next(bytes + at, size - at, one, &width);
        if (width > room)
            break;
        room -= width;
        (void)fputs(one, out);
    }
    if (!fits)
        (void)fputs(&"..."[3 - dots], out);
}

void otelbase_escape_copy(char *out, size_t out_size, const void *text,
                          size_t size)
{
    static const char more[] = "...";
    char one[OTELBASE_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t used = 0;
    size_t room = 0; /* how much text leaves room for the dots */

    out[0] = '\0';
    for (size_t at = 0; at < size;) {
        at += otelbase_escape_next(bytes + at, size - at, one);
        if (used + strlen(one) >= out_size) {
            if (out_size > sizeof(more))
                (void)memcpy(out + room, more, sizeof(more));
            return;
        }
        (void)memcpy(out + used, one, strlen(one) + 1);
        used += strlen(one);
        if (used + sizeof(more) <= out_size)
            room = used;
    }
}
