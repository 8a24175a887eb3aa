/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/span.h"
#include "shim/base/compiler.h"

/*
 * A protobuf writer for length-delimited fields with numbers below 16: a
 * process context has no others. It writes backwards, from the last byte to the
 * first. The body of a field is written before its head, so the length of the
 * body is known without a second function that computes it. A writer without
 * memory only counts; use one to learn a size in advance.
 * Rule: protobuf.dev, "Encoding".
 */
struct otelctx_protobuf {
    uint8_t *at; /* the byte written last; NULL: only count */
    size_t size; /* of everything written so far, in bytes */
};

/* The first byte of a field: its number and its wire type. */
OTELCTX_INLINE uint8_t otelctx_protobuf_tag(unsigned number)
{
    enum {
        LENGTH_DELIMITED = 2
    };

    return (uint8_t)(number << 3 | LENGTH_DELIMITED);
}

/* The second part of a field's head: the size of its body. */
void otelctx_protobuf_varint(struct otelctx_protobuf *out, size_t size);

/* The head of a field, tag and size. Its body is everything that was written
 * since out->size was `since`. */
void otelctx_protobuf_head(struct otelctx_protobuf *out, unsigned number,
                           size_t since);

/* A whole field: a string, or an encoded message. */
void otelctx_protobuf_bytes(struct otelctx_protobuf *out, unsigned number,
                            struct otelctx_span bytes);

/* Take the first field off `rest`; returns its body. Only for bytes of this
 * writer: nothing is checked. */
struct otelctx_span otelctx_protobuf_take(struct otelctx_span *rest);
