/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pb.h"

enum {
    LENGTH_DELIMITED = 2,
    VARINT_BYTE_MAX = 0x7f
};

size_t otelctx_pb_size_of_long(size_t size)
{
    size_t head = 2; /* the tag, and the last byte of the size */

    for (size_t left = size; left > VARINT_BYTE_MAX; left >>= 7)
        head++;
    return head + size;
}

uint8_t *otelctx_pb_field(uint8_t *out, unsigned number, size_t size)
{
    *out++ = (uint8_t)(number << 3 | LENGTH_DELIMITED);
    for (; size > VARINT_BYTE_MAX; size >>= 7)
        *out++ = (uint8_t)(size | 0x80);
    *out++ = (uint8_t)size;
    return out;
}

uint8_t *otelctx_pb_bytes(uint8_t *out, unsigned number,
                          struct otelctx_span bytes)
{
    out = otelctx_pb_field(out, number, bytes.size);
    if (bytes.size > 0)
        memcpy(out, bytes.at, bytes.size);
    return out + bytes.size;
}

struct otelctx_span otelctx_pb_take(struct otelctx_span *rest)
{
    const uint8_t *at = (const uint8_t *)rest->at + 1; /* past the tag */
    struct otelctx_span body = {0};
    unsigned shift = 0;

    do {
        body.size |= (size_t)(*at & 0x7f) << shift;
        shift += 7;
    } while (*at++ & 0x80);
    body.at = (const char *)at;
    rest->size -= (size_t)(body.at + body.size - rest->at);
    rest->at = body.at + body.size;
    return body;
}
