/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pb.h"

enum {
    LENGTH_DELIMITED = 2
};

static void put(struct otelctx_pb *pb, const void *bytes, size_t size)
{
    if (pb->out && size > 0)
        memcpy(pb->out + pb->size, bytes, size);
    pb->size += size;
}

void otelctx_pb_varint(struct otelctx_pb *pb, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    put(pb, bytes, size);
}

void otelctx_pb_field(struct otelctx_pb *pb, unsigned number, size_t size)
{
    otelctx_pb_varint(pb, number << 3 | LENGTH_DELIMITED);
    otelctx_pb_varint(pb, size);
}

void otelctx_pb_bytes(struct otelctx_pb *pb, unsigned number,
                      struct otelctx_span bytes)
{
    otelctx_pb_field(pb, number, bytes.size);
    put(pb, bytes.at, bytes.size);
}
