/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pb.h"

enum {
    LENGTH_DELIMITED = 2,
    VARINT_BYTE_MAX = 0x7f
};

static void put_byte(struct otelctx_pb *pb, uint8_t byte)
{
    if (pb->out)
        pb->out[pb->size] = byte;
    pb->size++;
}

void otelctx_pb_varint(struct otelctx_pb *pb, uint64_t value)
{
    for (; value > VARINT_BYTE_MAX; value >>= 7)
        put_byte(pb, (uint8_t)(value | 0x80));
    put_byte(pb, (uint8_t)value);
}

void otelctx_pb_field(struct otelctx_pb *pb, unsigned number, size_t size)
{
    const unsigned tag = number << 3 | LENGTH_DELIMITED;

    if (tag > VARINT_BYTE_MAX || size > VARINT_BYTE_MAX) {
        otelctx_pb_varint(pb, tag);
        otelctx_pb_varint(pb, size);
        return;
    }
    if (pb->out) { /* nearly all of them */
        pb->out[pb->size] = (uint8_t)tag;
        pb->out[pb->size + 1] = (uint8_t)size;
    }
    pb->size += 2;
}

void otelctx_pb_bytes(struct otelctx_pb *pb, unsigned number,
                      struct otelctx_span bytes)
{
    otelctx_pb_field(pb, number, bytes.size);
    if (pb->out && bytes.size > 0)
        memcpy(pb->out + pb->size, bytes.at, bytes.size);
    pb->size += bytes.size;
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
