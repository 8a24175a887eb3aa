/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/html.h"

#include "demo/base/utf8.h"

#include <stdbool.h>

/* Control characters, line separators, and characters that reorder text. */
static bool is_hazard(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void oteltime_html_text(FILE *out, const void *text, size_t size)
{
    const uint8_t *const bytes = text;

    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t length = otelbase_utf8_next(bytes + at, size - at, &code);

        if (length == 0 || is_hazard(code))
            (void)fputs("\xef\xbf\xbd", out);
        else if (code < 0x80 && (code == '<' || code == '>' || code == '&' ||
                                 code == '"' || code == '\''))
            (void)fprintf(out, "&#%u;", (unsigned)code);
        else
            (void)fwrite(bytes + at, 1, length, out);
        at += length == 0 ? 1 : length;
    }
}

void oteltime_html_json(FILE *out, const char *json, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (json[i] == '<')
            (void)fputs("\\u003c", out);
        else
            (void)putc(json[i], out);
    }
}

void oteltime_html_base64(FILE *out, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t at = 0; at < size; at += 3) {
        const size_t left = size - at;
        const uint32_t group = (uint32_t)bytes[at] << 16 |
                               (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)bytes[at + 2] : 0);

        (void)putc(digits[group >> 18], out);
        (void)putc(digits[group >> 12 & 63], out);
        (void)putc(left > 1 ? digits[group >> 6 & 63] : '=', out);
        (void)putc(left > 2 ? digits[group & 63] : '=', out);
    }
}

void oteltime_html_number(FILE *out, uint64_t number)
{
    if (number >= 1000) {
        oteltime_html_number(out, number / 1000);
        (void)fprintf(out, ",%03u", (unsigned)(number % 1000));
    } else {
        (void)fprintf(out, "%u", (unsigned)number);
    }
}

void oteltime_html_time(FILE *out, uint64_t ns)
{
    const double value = (double)ns;

    if (ns < 999950)
        (void)fprintf(out, "%.*f µs", ns > 0 && ns < 1000 ? 3 : 0, value / 1e3);
    else if (ns < 999950000)
        (void)fprintf(out, "%.1f ms", value / 1e6);
    else
        (void)fprintf(out, "%.2f s", value / 1e9);
}

void oteltime_html_seconds(FILE *out, uint64_t ns)
{
    const uint64_t ms = ns / 1000000 + (ns % 1000000 >= 500000);

    oteltime_html_number(out, ms / 1000);
    (void)fprintf(out, ".%03u", (unsigned)(ms % 1000));
}
