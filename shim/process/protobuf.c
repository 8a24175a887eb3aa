/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/protobuf.h"

#include "shim/base/compiler.h"

enum {
    VARINT_BITS = 7, /* of each byte; the eighth says that more follow */
    VARINT_MASK = 0x7f,
    VARINT_MORE = 0x80
};

static void put_byte(struct otelctx_protobuf *out, size_t byte)
{
    out->size++;
    if (out->at)
        *--out->at = (uint8_t)byte;
}

OTELCTX_RARE void otelctx_protobuf_varint(struct otelctx_protobuf *out,
                                          size_t size)
{
    unsigned shift = 0;

    while (size >> shift > VARINT_MASK)
        shift += VARINT_BITS;
    put_byte(out, size >> shift);
    while (shift > 0) {
        shift -= VARINT_BITS;
        put_byte(out, size >> shift | VARINT_MORE);
    }
}

void otelctx_protobuf_head(struct otelctx_protobuf *out, unsigned number,
                           size_t since)
{
    otelctx_protobuf_varint(out, out->size - since);
    put_byte(out, otelctx_protobuf_tag(number));
}

void otelctx_protobuf_bytes(struct otelctx_protobuf *out, unsigned number,
                            struct otelctx_span bytes)
{
    const size_t since = out->size;

    out->size += bytes.size;
    if (out->at) {
        out->at -= bytes.size;
        if (bytes.size > 0)
            memcpy(out->at, bytes.at, bytes.size);
    }
    otelctx_protobuf_head(out, number, since);
}

struct otelctx_span otelctx_protobuf_take(struct otelctx_span *rest)
{
    const uint8_t *at = (const uint8_t *)rest->at + 1; /* past the tag */
    struct otelctx_span body = {0};
    unsigned shift = 0;

    do {
        body.size |= (size_t)(*at & VARINT_MASK) << shift;
        shift += VARINT_BITS;
    } while (*at++ & VARINT_MORE);
    body.at = (const char *)at;
    rest->size -= (size_t)(body.at + body.size - rest->at);
    rest->at = body.at + body.size;
    return body;
}
