/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/json_writer.h"

#include "demo/base/utf8.h"

#include <stdarg.h>
#include <string.h>

/* U+FFFD, in place of a byte that is not UTF-8. */
#define REPLACEMENT "\\ufffd"

/* In front of each key and each value. */
static void separate(struct otelbase_json *json)
{
    if (json->comma)
        (void)fputc(',', json->out);
    json->comma = true;
}

void otelbase_json_open(struct otelbase_json *json, char bracket)
{
    separate(json);
    (void)fputc(bracket, json->out);
    json->comma = false;
}

void otelbase_json_close(struct otelbase_json *json, char bracket)
{
    (void)fputc(bracket, json->out);
    json->comma = true;
}

void otelbase_json_key(struct otelbase_json *json, const char *name)
{
    separate(json);
    (void)fprintf(json->out, "\"%s\":", name);
    json->comma = false;
}

/*
 * JSON allows most of these unescaped, but they are unsafe on terminals:
 * controls, line separators, characters that reorder text.
 */
static bool is_escaped(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void otelbase_json_string(struct otelbase_json *json, const void *text,
                          size_t size)
{
    const uint8_t *const bytes = text;
    FILE *const out = json->out;

    separate(json);
    (void)fputc('"', out);
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t length = otelbase_utf8_next(bytes + at, size - at, &code);

        if (length == 0)
            (void)fputs(REPLACEMENT, out);
        else if (code == '"' || code == '\\')
            (void)fprintf(out, "\\%c", (int)code);
        else if (is_escaped(code))
            (void)fprintf(out, "\\u%04x", (unsigned)code);
        else
            (void)fwrite(bytes + at, 1, length, out);
        at += length > 0 ? length : 1;
    }
    (void)fputc('"', out);
}

void otelbase_json_text(struct otelbase_json *json, const char *text)
{
    otelbase_json_string(json, text, strlen(text));
}

void otelbase_json_name(struct otelbase_json *json, const char *name)
{
    otelbase_json_text(json, name);
    (void)fputc(':', json->out);
    json->comma = false;
}

void otelbase_json_hex(struct otelbase_json *json, const uint8_t *bytes,
                       size_t size)
{
    separate(json);
    (void)fputc('"', json->out);
    for (size_t i = 0; i < size; i++)
        (void)fprintf(json->out, "%02x", bytes[i]);
    (void)fputc('"', json->out);
}

void otelbase_json_base64(struct otelbase_json *json, const uint8_t *bytes,
                          size_t size)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    FILE *const out = json->out;

    separate(json);
    (void)fputc('"', out);
    for (size_t at = 0; at < size; at += 3) {
        const size_t left = size - at;
        const uint32_t group = (uint32_t)bytes[at] << 16 |
                               (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                               (left > 2 ? bytes[at + 2] : 0);

        (void)fputc(digits[group >> 18], out);
        (void)fputc(digits[group >> 12 & 63], out);
        (void)fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? digits[group & 63] : '=', out);
    }
    (void)fputc('"', out);
}

void otelbase_json_literal(struct otelbase_json *json, const char *format, ...)
{
    va_list arguments;

    separate(json);
    va_start(arguments, format);
    (void)vfprintf(json->out, format, arguments);
    va_end(arguments);
}

void otelbase_json_quoted(struct otelbase_json *json, const char *format, ...)
{
    va_list arguments;

    separate(json);
    (void)fputc('"', json->out);
    va_start(arguments, format);
    (void)vfprintf(json->out, format, arguments);
    va_end(arguments);
    (void)fputc('"', json->out);
}
