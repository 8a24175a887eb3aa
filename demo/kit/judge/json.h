/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A JSON text as a tree. Objects keep the order and every duplicate. */
enum otelkit_json_kind {
    OTELKIT_JSON_NULL,
    OTELKIT_JSON_BOOL,
    OTELKIT_JSON_NUMBER,
    OTELKIT_JSON_STRING,
    OTELKIT_JSON_ARRAY,
    OTELKIT_JSON_OBJECT,
};

struct otelkit_json {
    enum otelkit_json_kind kind;
    char *key; /* of a member of an object, or NULL */
    size_t key_size;
    bool truth;
    double number;
    char *text; /* of a string, UTF-8 with a NUL behind it */
    size_t size;
    struct otelkit_json *first, *next; /* element or member */
};

/* Parses one value, which blanks may surround. NULL when the text is not JSON.
 */
struct otelkit_json *otelkit_json_parse(const char *text, size_t size);
void otelkit_json_free(struct otelkit_json *value);

/* The last member with this key. NULL when there is none, or when the value is
 * no object. */
const struct otelkit_json *otelkit_json_get(const struct otelkit_json *object,
                                            const char *key);

/* Whether the value is this string. */
bool otelkit_json_is(const struct otelkit_json *value, const char *text);

/* Whether the values are equal: members of objects may have any order. */
bool otelkit_json_equal(const struct otelkit_json *a,
                        const struct otelkit_json *b);

size_t otelkit_json_count(const struct otelkit_json *value);
