/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PB_H
#define OTELCTX_PB_H

#include <stdint.h>

#include "config/span.h"
#include "shim/compiler.h"

/*
 * A protobuf writer, of length-delimited fields with numbers below 16: all that
 * a process context has. What writes returns where the next field goes.
 * Rule: protobuf.dev, "Encoding".
 */

size_t otelctx_pb_size_of_long(size_t size);

/* The bytes of a whole field whose body has `size`. */
OTELCTX_INLINE size_t otelctx_pb_size(size_t size)
{
    /* A byte for the tag, and one for the size, nearly always. */
    return size <= 0x7f ? 2 + size : otelctx_pb_size_of_long(size);
}

/* The head of a field; `size` bytes of it must follow. */
uint8_t *otelctx_pb_field(uint8_t *out, unsigned number, size_t size);

/* A whole string (or bytes, or encoded message) field. */
uint8_t *otelctx_pb_bytes(uint8_t *out, unsigned number,
                          struct otelctx_span bytes);

/* Take the first field off what this writer wrote, which is why nothing is
 * checked. */
struct otelctx_span otelctx_pb_take(struct otelctx_span *rest);

#endif
