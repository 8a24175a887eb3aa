/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_DECODE_H
#define OTELREAD_DECODE_H

#include "demo/reader/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays and lists inside each other; the outermost is 1. */
#define OTELREAD_DEPTH_MAX 16

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

/* An attribute, a pair of a list, or, with an empty key, an array's element. */
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

/* A ProcessContext, in wire order. It points into the payload. */
struct otelread_decoded {
    struct otelread_list resource;
    uint32_t resource_dropped;
    struct otelread_list extra;
    struct otelread_node *nodes;
    size_t nodes_used;
};

/*
 * Decodes a payload as protobuf says: unknown fields are skipped, of repeated
 * singular fields the last wins, messages merge. A known field of another
 * wire type is a fault, because some readers reject the context for it.
 *
 * Returns 0, -EBADMSG with *fault filled in, or -ENOMEM. When it fails, *out
 * is empty. Free *out with otelread_decoded_free().
 */
int otelread_decode(const uint8_t *payload, size_t size,
                    struct otelread_decoded *out, struct otelread_fault *fault);

void otelread_decoded_free(struct otelread_decoded *decoded);

/*
 * The nodes of a list sorted by key, wire order among equals; to be freed.
 * NULL when the list is empty or memory is short.
 */
const struct otelread_node **
otelread_list_sort(const struct otelread_list *list);

bool otelread_span_equal(struct otelread_span a, struct otelread_span b);

#endif
