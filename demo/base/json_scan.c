/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/json_scan.h"

#include "demo/base/utf8.h"

#include <string.h>

enum {
    DEPTH_MAX = 64
};

void otelbase_scan_fail(struct otelbase_scan *json, const char *why)
{
    if (json->why)
        return;
    json->why = why;
    json->whereat = json->at;
}

static void blanks_skip(struct otelbase_scan *json)
{
    while (json->at < json->end && *json->at != '\0' &&
           strchr(" \t\r\n", *json->at))
        json->at++;
}

bool otelbase_scan_next_is(struct otelbase_scan *json, char one)
{
    blanks_skip(json);
    return !json->why && json->at < json->end && *json->at == one;
}

static bool take_char(struct otelbase_scan *json, char one)
{
    const bool found = otelbase_scan_next_is(json, one);

    json->at += found;
    return found;
}

static bool take_word(struct otelbase_scan *json, const char *word)
{
    const size_t size = strlen(word);

    blanks_skip(json);
    if (json->why || (size_t)(json->end - json->at) < size ||
        memcmp(json->at, word, size) != 0)
        return false;
    json->at += size;
    return true;
}

void otelbase_scan_open(struct otelbase_scan *json)
{
    if (!take_char(json, '{'))
        otelbase_scan_fail(json, "an object is expected");
    json->first = true;
}

void otelbase_scan_open_array(struct otelbase_scan *json)
{
    if (!take_char(json, '['))
        otelbase_scan_fail(json, "an array is expected");
    json->first = true;
}

/* In front of an item: its comma. False behind the last one. */
static bool take_comma(struct otelbase_scan *json, char close)
{
    const bool first = json->first;

    json->first = false;
    if (json->why || take_char(json, close))
        return false;
    if (!first && !take_char(json, ','))
        otelbase_scan_fail(json, close == '}'
                                     ? "a comma or a brace is expected"
                                     : "a comma or a bracket is expected");
    return !json->why;
}

bool otelbase_scan_element(struct otelbase_scan *json)
{
    return take_comma(json, ']');
}

bool otelbase_scan_member(struct otelbase_scan *json, struct otelbase_text *key)
{
    if (!take_comma(json, '}'))
        return false;
    *key = otelbase_scan_string(json);
    if (!take_char(json, ':'))
        otelbase_scan_fail(json, "a colon is expected");
    return !json->why;
}

/* The four digits behind \u, or a negative number. */
static int32_t take_hex(struct otelbase_scan *json)
{
    int32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char one = json->at < json->end ? *json->at : '\0';
        const char *const found = one != '\0' ? strchr(digits, one) : NULL;

        if (!found)
            return -1;
        unit = unit << 4 |
               (int32_t)(found - digits - (found - digits > 15 ? 6 : 0));
        json->at++;
    }
    return unit;
}

static char *utf8_put(char *out, int32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 63));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63));
    }
    *out++ = (char)(0x80 | (c & 63));
    return out;
}

/* Behind "\u": two of them make a character beyond U+FFFF. */
static char *take_unit(struct otelbase_scan *json, char *out)
{
    int32_t unit = take_hex(json);

    if (unit >= 0xd800 && unit < 0xdc00 && json->end - json->at >= 6 &&
        memcmp(json->at, "\\u", 2) == 0) {
        json->at += 2;
        const int32_t low = take_hex(json);

        if (low >= 0xdc00 && low <= 0xdfff)
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    if (unit < 0 || (unit >= 0xd800 && unit <= 0xdfff)) {
        otelbase_scan_fail(json, "not a Unicode escape");
        return out;
    }
    return utf8_put(out, unit);
}

static char *take_escape(struct otelbase_scan *json, char *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char one = json->at < json->end ? *json->at : '\0';
    const char *const found = one != '\0' ? strchr(names, one) : NULL;

    if (one == 'u') {
        json->at++;
        return take_unit(json, out);
    }
    if (!found) {
        otelbase_scan_fail(json, "not an escape of JSON");
        return out;
    }
    json->at++;
    *out = meant[found - names];
    return out + 1;
}

/* One character that is not escaped. */
static char *take_plain(struct otelbase_scan *json, char *out)
{
    uint32_t code;
    const size_t size = otelbase_utf8_next(
        (const uint8_t *)json->at, (size_t)(json->end - json->at), &code);

    if (size == 0)
        otelbase_scan_fail(json, "not UTF-8");
    else if (code < 0x20)
        otelbase_scan_fail(json, "a control character in a string");
    else
        (void)memmove(out, json->at, size);
    json->at += size;
    return out + size;
}

struct otelbase_text otelbase_scan_string(struct otelbase_scan *json)
{
    const struct otelbase_text nothing = {.text = "", .size = 0};
    char *out, *start;

    if (!take_char(json, '"'))
        otelbase_scan_fail(json, "a string is expected");
    start = out = json->at;
    while (!json->why) {
        if (json->at == json->end) {
            otelbase_scan_fail(json, "a string has no end");
        } else if (*json->at == '"') {
            json->at++;
            return (struct otelbase_text){start, (size_t)(out - start)};
        } else if (*json->at == '\\') {
            json->at++;
            out = take_escape(json, out);
        } else {
            out = take_plain(json, out);
        }
    }
    return nothing;
}

static bool next_is_digit(const struct otelbase_scan *json)
{
    return json->at < json->end && *json->at >= '0' && *json->at <= '9';
}

uint64_t otelbase_scan_number(struct otelbase_scan *json)
{
    const char *start;
    uint64_t number = 0;

    if (json->why)
        return 0;
    blanks_skip(json);
    start = json->at;
    for (; next_is_digit(json); json->at++) {
        const uint64_t digit = (uint64_t)(*json->at - '0');

        if (number > (INT64_MAX - digit) / 10)
            otelbase_scan_fail(json, "the number is too large");
        number = number * 10 + digit;
    }
    if (json->at == start || (*start == '0' && json->at > start + 1) ||
        (json->at < json->end && strchr(".eE", *json->at) && *json->at != '\0'))
        otelbase_scan_fail(json, "a whole number is expected");
    return json->why ? 0 : number;
}

bool otelbase_scan_bool(struct otelbase_scan *json)
{
    if (take_word(json, "true"))
        return true;
    if (!take_word(json, "false"))
        otelbase_scan_fail(json, "true or false is expected");
    return false;
}

/* Skips a string and leaves its escapes as they are. */
static void skip_string(struct otelbase_scan *json)
{
    char scratch[4];

    json->at++;
    while (!json->why && json->at < json->end && *json->at != '"') {
        if (*json->at != '\\') {
            (void)take_plain(json, scratch);
        } else {
            json->at++;
            (void)take_escape(json, scratch);
        }
    }
    if (!take_char(json, '"'))
        otelbase_scan_fail(json, "a string has no end");
}

static void skip_digits(struct otelbase_scan *json)
{
    if (!next_is_digit(json))
        otelbase_scan_fail(json, "a digit is expected");
    while (next_is_digit(json))
        json->at++;
}

static void skip_number(struct otelbase_scan *json)
{
    (void)take_word(json, "-");
    if (json->at < json->end && *json->at == '0')
        json->at++;
    else
        skip_digits(json);
    if (take_word(json, "."))
        skip_digits(json);
    if (take_word(json, "e") || take_word(json, "E")) {
        if (!take_word(json, "+"))
            (void)take_word(json, "-");
        skip_digits(json);
    }
}

static void skip(struct otelbase_scan *json, int depth);

static void skip_items(struct otelbase_scan *json, char close, int depth)
{
    json->at++;
    if (take_char(json, close))
        return;
    do {
        if (close == '}') {
            if (!otelbase_scan_next_is(json, '"'))
                otelbase_scan_fail(json, "a string is expected");
            else
                skip_string(json);
            if (!take_char(json, ':'))
                otelbase_scan_fail(json, "a colon is expected");
        }
        skip(json, depth + 1);
    } while (take_char(json, ','));
    if (!take_char(json, close))
        otelbase_scan_fail(json, "a comma or a bracket is expected");
}

static void skip(struct otelbase_scan *json, int depth)
{
    if (depth > DEPTH_MAX)
        otelbase_scan_fail(json, "nested too deeply");
    if (json->why)
        return;
    if (otelbase_scan_next_is(json, '{'))
        skip_items(json, '}', depth);
    else if (otelbase_scan_next_is(json, '['))
        skip_items(json, ']', depth);
    else if (otelbase_scan_next_is(json, '"'))
        skip_string(json);
    else if (!take_word(json, "null") && !take_word(json, "true") &&
             !take_word(json, "false"))
        skip_number(json);
}

struct otelbase_text otelbase_scan_any(struct otelbase_scan *json)
{
    const char *start;

    blanks_skip(json);
    start = json->at;
    skip(json, 0);
    return (struct otelbase_text){start,
                                  json->why ? 0 : (size_t)(json->at - start)};
}

void otelbase_scan_finish(struct otelbase_scan *json)
{
    blanks_skip(json);
    if (json->at < json->end)
        otelbase_scan_fail(json, "something follows the object");
}
