/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names and values, NUL-terminated UTF-8, in the order they were added. */
struct oteltop_attributes {
    struct oteltop_attribute {
        char *key;
        char *value;
    } * list;
    size_t count;
};

/* Appends copies. Returns 0 or -ENOMEM. */
int oteltop_attributes_add(struct oteltop_attributes *attributes,
                           const char *key, const char *value);

/* The last value of a key; NULL: none. */
const char *oteltop_attributes_find(const struct oteltop_attributes *attributes,
                                    const char *key);

/* Whether they are equal, in the same order. */
bool oteltop_attributes_are_same(const struct oteltop_attributes *a,
                                 const struct oteltop_attributes *b);

void oteltop_attributes_free(struct oteltop_attributes *attributes);
