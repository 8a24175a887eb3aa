/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/json.h"

#include "demo/base/json_scan.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 512,
    NUMBER_MAX = 63 /* characters */
};

/* Copies a string and a NUL; a fault when there is no memory. */
static char *copy_of(struct otelbase_scan *scan, struct otelbase_text text)
{
    char *const copy = calloc(text.size + 1, 1);

    if (copy)
        (void)memcpy(copy, text.text, text.size);
    else
        otelbase_scan_fail(scan, "out of memory");
    return copy;
}

static void fill_word(struct otelbase_scan *scan, struct otelkit_json *value)
{
    const struct otelbase_text word = otelbase_scan_any(scan);
    char text[NUMBER_MAX + 1] = "";

    if (word.size > NUMBER_MAX)
        otelbase_scan_fail(scan, "the number is too long");
    else
        (void)memcpy(text, word.text, word.size);
    if (strcmp(text, "null") == 0)
        return;
    value->truth = strcmp(text, "true") == 0;
    value->kind = value->truth || strcmp(text, "false") == 0
                      ? OTELKIT_JSON_BOOL
                      : OTELKIT_JSON_NUMBER;
    if (value->kind == OTELKIT_JSON_NUMBER)
        value->number = strtod(text, NULL);
}

static struct otelkit_json *take_value(struct otelbase_scan *scan, int depth);

static void fill_items(struct otelbase_scan *scan, struct otelkit_json *value,
                       int depth)
{
    const bool keyed = value->kind == OTELKIT_JSON_OBJECT;
    struct otelkit_json **last = &value->first;
    struct otelbase_text key = {.text = "", .size = 0};

    while (keyed ? otelbase_scan_member(scan, &key)
                 : otelbase_scan_element(scan)) {
        *last = take_value(scan, depth + 1);
        if (!*last)
            return;
        if (keyed)
            (*last)->key = copy_of(scan, key);
        (*last)->key_size = key.size;
        last = &(*last)->next;
    }
}

static void fill_value(struct otelbase_scan *scan, struct otelkit_json *value,
                       int depth)
{
    if (otelbase_scan_next_is(scan, '{')) {
        value->kind = OTELKIT_JSON_OBJECT;
        otelbase_scan_open(scan);
        fill_items(scan, value, depth);
    } else if (otelbase_scan_next_is(scan, '[')) {
        value->kind = OTELKIT_JSON_ARRAY;
        otelbase_scan_open_array(scan);
        fill_items(scan, value, depth);
    } else if (otelbase_scan_next_is(scan, '"')) {
        const struct otelbase_text text = otelbase_scan_string(scan);

        value->kind = OTELKIT_JSON_STRING;
        value->text = copy_of(scan, text);
        value->size = text.size;
    } else {
        fill_word(scan, value);
    }
}

/* On a fault, too, returns what was built: the caller frees it. */
static struct otelkit_json *take_value(struct otelbase_scan *scan, int depth)
{
    struct otelkit_json *const value =
        depth < DEPTH_MAX ? calloc(1, sizeof(*value)) : NULL;

    if (value)
        fill_value(scan, value, depth);
    else
        otelbase_scan_fail(scan, "nested too deeply, or out of memory");
    return value;
}

struct otelkit_json *otelkit_json_parse(const char *text, size_t size)
{
    struct otelbase_scan scan = {.why = NULL};
    char *const copy = copy_of(&scan, (struct otelbase_text){text, size});
    struct otelkit_json *value = NULL;

    scan.start = scan.at = copy;
    scan.end = copy ? copy + size : NULL;
    if (copy) {
        value = take_value(&scan, 0);
        otelbase_scan_finish(&scan);
    }
    if (scan.why) {
        otelkit_json_free(value);
        value = NULL;
    }
    free(copy);
    return value;
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
        /* Members of equal objects mostly have the same order. */
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
