/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members of AnyValue's oneof; EMPTY when none is set. */
enum otelread_kind {
    OTELREAD_EMPTY,
    OTELREAD_STRING,
    OTELREAD_BOOL,
    OTELREAD_INT,
    OTELREAD_DOUBLE,
    OTELREAD_ARRAY,
    OTELREAD_KVLIST,
    OTELREAD_BYTES,
};

/* Bytes of the payload. */
struct otelread_span {
    const uint8_t *bytes;
    size_t size;
};

struct otelread_node;

struct otelread_list {
    struct otelread_node *first;
    struct otelread_node *last;
    size_t count;
};

/* An attribute, a pair of a KVLIST, or, with an empty key, an array element. */
struct otelread_node {
    struct otelread_node *next;
    struct otelread_span key;
    enum otelread_kind kind;
    union {
        struct otelread_span span; /* STRING, valid UTF-8; BYTES */
        bool truth;
        int64_t integer;
        double real;
        struct otelread_list list; /* ARRAY, KVLIST */
    };
};

/*
 * The nodes of a list sorted by key, wire order among equals; to be freed.
 * NULL when the list is empty or memory is short.
 */
const struct otelread_node **
otelread_list_sort(const struct otelread_list *list);

bool otelread_span_equal(struct otelread_span a, struct otelread_span b);
