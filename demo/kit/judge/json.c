/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 512
};

struct parser {
    const char *at, *end;
    int depth;
};

static void blanks_skip(struct parser *parser)
{
    while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) &&
           *parser->at != '\0')
        parser->at++;
}

static bool take(struct parser *parser, char wanted)
{
    blanks_skip(parser);
    if (parser->at == parser->end || *parser->at != wanted)
        return false;
    parser->at++;
    return true;
}

static bool take_word(struct parser *parser, const char *word)
{
    const size_t size = strlen(word);

    if ((size_t)(parser->end - parser->at) < size ||
        memcmp(parser->at, word, size) != 0)
        return false;
    parser->at += size;
    return true;
}

/* The four digits behind \u, or a negative number. */
static int32_t take_hex(struct parser *parser)
{
    int32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char one = parser->at < parser->end ? *parser->at++ : '\0';
        const char *const found =
            one != '\0'
                ? strchr(digits, one >= 'A' && one <= 'F' ? one | 32 : one)
                : NULL;

        if (!found)
            return -1;
        unit = unit << 4 | (int32_t)(found - digits);
    }
    return unit;
}

static size_t utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Behind "\u": two of them make a character beyond U+FFFF. */
static bool take_unit(struct parser *parser, char *out, size_t *size)
{
    int32_t unit = take_hex(parser);

    if (unit >= 0xd800 && unit < 0xdc00 && take_word(parser, "\\u")) {
        const int32_t low = take_hex(parser);

        if (low < 0xdc00 || low > 0xdfff)
            return false;
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    if (unit < 0)
        return false;
    *size += utf8_put(out + *size, (uint32_t)unit);
    return true;
}

static bool take_escape(struct parser *parser, char *out, size_t *size)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char one = parser->at < parser->end ? *parser->at++ : '\0';
    const char *const found = one != '\0' ? strchr(names, one) : NULL;

    if (one == 'u')
        return take_unit(parser, out, size);
    if (!found)
        return false;
    out[(*size)++] = meant[found - names];
    return true;
}

/* How many bytes there are up to the last quote, or the end. */
static size_t string_size(const struct parser *parser)
{
    const char *at = parser->at;

    while (at < parser->end && *at != '"')
        at += *at == '\\' && at + 1 < parser->end ? 2 : 1;
    return (size_t)(at - parser->at);
}

/* Behind the first quote. What it says is never longer than how it says it. */
static char *take_string(struct parser *parser, size_t *size)
{
    char *const out = malloc(string_size(parser) + 1);

    *size = 0;
    while (out && parser->at < parser->end) {
        const char one = *parser->at++;

        if (one == '"') {
            out[*size] = '\0';
            return out;
        }
        if (one != '\\')
            out[(*size)++] = one;
        else if (!take_escape(parser, out, size))
            break;
    }
    free(out);
    return NULL;
}

static bool take_number(struct parser *parser, struct otelkit_json *value)
{
    char text[64];
    size_t size = 0;
    char *end;

    while (parser->at < parser->end && size < sizeof(text) - 1 &&
           strchr("+-.0123456789eE", *parser->at) && *parser->at != '\0')
        text[size++] = *parser->at++;
    text[size] = '\0';
    value->kind = OTELKIT_JSON_NUMBER;
    value->number = strtod(text, &end);
    return size > 0 && *end == '\0';
}

static struct otelkit_json *take_value(struct parser *parser);

/* Elements, or members, up to the closing bracket. */
static bool take_items(struct parser *parser, struct otelkit_json *value,
                       char close)
{
    struct otelkit_json **last = &value->first;

    if (take(parser, close))
        return true;
    do {
        char *key = NULL;
        size_t key_size = 0;

        if (close == '}') {
            key = take(parser, '"') ? take_string(parser, &key_size) : NULL;
            if (!key || !take(parser, ':')) {
                free(key);
                return false;
            }
        }
        *last = take_value(parser);
        if (!*last) {
            free(key);
            return false;
        }
        (*last)->key = key;
        (*last)->key_size = key_size;
        last = &(*last)->next;
    } while (take(parser, ','));
    return take(parser, close);
}

static bool fill_value(struct parser *parser, struct otelkit_json *value)
{
    if (take(parser, '{')) {
        value->kind = OTELKIT_JSON_OBJECT;
        return take_items(parser, value, '}');
    }
    if (take(parser, '[')) {
        value->kind = OTELKIT_JSON_ARRAY;
        return take_items(parser, value, ']');
    }
    if (take(parser, '"')) {
        value->kind = OTELKIT_JSON_STRING;
        value->text = take_string(parser, &value->size);
        return value->text;
    }
    if (take_word(parser, "null"))
        return true;
    value->kind = OTELKIT_JSON_BOOL;
    value->truth = take_word(parser, "true");
    return value->truth || take_word(parser, "false") ||
           take_number(parser, value);
}

static struct otelkit_json *take_value(struct parser *parser)
{
    struct otelkit_json *const value =
        parser->depth < DEPTH_MAX ? calloc(1, sizeof(*value)) : NULL;
    bool right;

    if (!value)
        return NULL;
    parser->depth++;
    right = fill_value(parser, value);
    parser->depth--;
    if (right)
        return value;
    otelkit_json_free(value);
    return NULL;
}

struct otelkit_json *otelkit_json_parse(const char *text, size_t size)
{
    struct parser parser = {.at = text, .end = text + size};
    struct otelkit_json *const value = take_value(&parser);

    blanks_skip(&parser);
    if (parser.at == parser.end)
        return value;
    otelkit_json_free(value);
    return NULL;
}

void otelkit_json_free(struct otelkit_json *value)
{
    while (value) {
        struct otelkit_json *const next = value->next;

        otelkit_json_free(value->first);
        free(value->key);
        free(value->text);
        free(value);
        value = next;
    }
}

const struct otelkit_json *otelkit_json_get(const struct otelkit_json *object,
                                            const char *key)
{
    const struct otelkit_json *found = NULL;

    if (!object || object->kind != OTELKIT_JSON_OBJECT)
        return NULL;
    for (const struct otelkit_json *one = object->first; one; one = one->next) {
        if (strcmp(one->key, key) == 0)
            found = one;
    }
    return found;
}

bool otelkit_json_is(const struct otelkit_json *value, const char *text)
{
    return value && value->kind == OTELKIT_JSON_STRING &&
           strcmp(value->text, text) == 0;
}

size_t otelkit_json_count(const struct otelkit_json *value)
{
    size_t count = 0;

    for (const struct otelkit_json *one = value ? value->first : NULL; one;
         one = one->next)
        count++;
    return count;
}

static bool has_member(const struct otelkit_json *object,
                       const struct otelkit_json *member)
{
    for (const struct otelkit_json *one = object->first; one; one = one->next) {
        if (one->key_size == member->key_size &&
            memcmp(one->key, member->key, member->key_size) == 0 &&
            otelkit_json_equal(one, member))
            return true;
    }
    return false;
}

static bool items_equal(const struct otelkit_json *a,
                        const struct otelkit_json *b)
{
    const struct otelkit_json *other = b->first;

    if (otelkit_json_count(a) != otelkit_json_count(b))
        return false;
    for (const struct otelkit_json *one = a->first; one;
         one = one->next, other = other->next) {
        /* Members mostly have the same order. */
        if (a->kind == OTELKIT_JSON_ARRAY ? !otelkit_json_equal(one, other)
            : one->key_size == other->key_size &&
                    memcmp(one->key, other->key, one->key_size) == 0
                ? !otelkit_json_equal(one, other)
                : !has_member(b, one))
            return false;
    }
    return true;
}

bool otelkit_json_equal(const struct otelkit_json *a,
                        const struct otelkit_json *b)
{
    if (!a || !b || a->kind != b->kind)
        return a == b;
    switch (a->kind) {
    case OTELKIT_JSON_NULL:
        return true;
    case OTELKIT_JSON_BOOL:
        return a->truth == b->truth;
    case OTELKIT_JSON_NUMBER:
        return !(a->number < b->number) && !(a->number > b->number);
    case OTELKIT_JSON_STRING:
        return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
    case OTELKIT_JSON_ARRAY:
    case OTELKIT_JSON_OBJECT:
        return items_equal(a, b);
    }
    return false;
}
