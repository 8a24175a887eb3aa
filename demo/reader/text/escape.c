/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/text/escape.h"

#include "demo/reader/text/utf8.h"

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

size_t otelread_escape_next(const uint8_t *text, size_t size,
                            char out[OTELREAD_ESCAPE_MAX])
{
    uint32_t code = 0;
    const size_t length = otelread_utf8_next(text, size, &code);

    if (size == 0)
        return 0;
    if (length == 0) {
        (void)snprintf(out, OTELREAD_ESCAPE_MAX, "\\x%02x", text[0]);
        return 1;
    }
    if (short_form(code))
        (void)snprintf(out, OTELREAD_ESCAPE_MAX, "%s", short_form(code));
    else if (code < 0x20 || code == 0x7f)
        (void)snprintf(out, OTELREAD_ESCAPE_MAX, "\\x%02x", (unsigned)code);
    else if (is_hazard(code))
        (void)snprintf(out, OTELREAD_ESCAPE_MAX, "\\u{%04x}", (unsigned)code);
    else
        (void)snprintf(out, OTELREAD_ESCAPE_MAX, "%.*s", (int)length,
                       (const char *)text);
    return length;
}

size_t otelread_escape_width(const void *text, size_t size)
{
    char one[OTELREAD_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t width = 0;

    for (size_t at = 0; at < size;) {
        at += otelread_escape_next(bytes + at, size - at, one);
        width += one[0] == '\\' ? strlen(one) : 1;
    }
    return width;
}

void otelread_escape_print(FILE *out, const void *text, size_t size)
{
    otelread_escape_print_start(out, text, size, size);
}

void otelread_escape_print_start(FILE *out, const void *text, size_t size,
                                 size_t limit)
{
    char one[OTELREAD_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t at = 0;

    for (; at < size && limit > 0; limit--) {
        at += otelread_escape_next(bytes + at, size - at, one);
        (void)fputs(one, out);
    }
    if (at < size)
        (void)fputs("...", out);
}

void otelread_escape_copy(char *out, size_t out_size, const void *text,
                          size_t size)
{
    static const char more[] = "...";
    char one[OTELREAD_ESCAPE_MAX];
    const uint8_t *bytes = text;
    size_t used = 0;
    size_t room = 0; /* how much text leaves room for the dots */

    out[0] = '\0';
    for (size_t at = 0; at < size;) {
        at += otelread_escape_next(bytes + at, size - at, one);
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
