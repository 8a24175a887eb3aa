/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PB_H
#define OTELCTX_PB_H

#include <stdint.h>

#include "config/span.h"

/*
 * A protobuf writer. With `out` NULL it writes nothing and only counts, so a
 * length is always what the same encoder would write.
 * Rule: protobuf.dev, "Encoding".
 */
struct otelctx_pb {
    uint8_t *out;
    size_t size; /* bytes written, or counted, so far */
};

void otelctx_pb_varint(struct otelctx_pb *pb, uint64_t value);

/* The head of a length-delimited field; `size` bytes of it must follow. */
void otelctx_pb_field(struct otelctx_pb *pb, unsigned number, size_t size);

/* A whole string (or bytes, or encoded message) field. */
void otelctx_pb_bytes(struct otelctx_pb *pb, unsigned number,
                      struct otelctx_span bytes);

/*
 * Take the first field off what this writer wrote, which is why nothing is
 * checked: a length-delimited one with a number below 16.
 */
struct otelctx_span otelctx_pb_take(struct otelctx_span *rest);

#endif
