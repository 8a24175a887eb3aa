/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/msgpack.h"

#include "demo/base/utf8.h"
#include "demo/reader/payload/cursor.h"

#include <errno.h>

/* The first bytes of strings and maps; the "fix" ones contain the size. */
enum {
    FIX_MAP = 0x80,
    FIX_STR = 0xa0,
    STR_8 = 0xd9,
    STR_16 = 0xda,
    STR_32 = 0xdb,
    MAP_16 = 0xde,
    MAP_32 = 0xdf
};

/* A number of so many bytes, the highest first. */
static uint32_t take_number(struct otelread_cursor *cursor, size_t size)
{
    uint32_t number = 0;

    if (cursor->end - cursor->at < size) {
        otelread_cursor_fail(cursor, cursor->end, "a size is cut off");
        return 0;
    }
    while (size-- > 0)
        number = number << 8 | cursor->payload[cursor->at++];
    return number;
}

/* How many pairs there are. */
static uint32_t take_map(struct otelread_cursor *cursor)
{
    const uint32_t type = take_number(cursor, 1);

    if (type == MAP_16)
        return take_number(cursor, 2);
    if (type == MAP_32)
        return take_number(cursor, 4);
    if ((type & 0xf0) == FIX_MAP)
        return type & 0x0f;
    otelread_cursor_fail(cursor, 0, "no MessagePack map (0x%02x)", type);
    return 0;
}

static uint32_t take_length(struct otelread_cursor *cursor)
{
    const size_t start = cursor->at;
    const uint32_t type = take_number(cursor, 1);

    if ((type & 0xe0) == FIX_STR)
        return type & 0x1f;
    if (type == STR_8 || type == STR_16 || type == STR_32)
        return take_number(cursor, (size_t)1 << (type - STR_8));
    otelread_cursor_fail(cursor, start, "no MessagePack string (0x%02x)", type);
    return 0;
}

static struct otelread_span take_string(struct otelread_cursor *cursor)
{
    const uint32_t size = take_length(cursor);
    const struct otelread_span span = {cursor->payload + cursor->at, size};

    if (otelread_fault_found(cursor->fault))
        return (struct otelread_span){NULL, 0};
    if (size > cursor->end - cursor->at) {
        otelread_cursor_fail(cursor, cursor->end, "a string is cut off");
        return (struct otelread_span){NULL, 0};
    }
    const size_t valid = otelbase_utf8_span(span.bytes, span.size);
    if (valid < span.size)
        otelread_cursor_fail(cursor, cursor->at + valid,
                             "invalid UTF-8 (0x%02x)", span.bytes[valid]);
    cursor->at += size;
    return span;
}

int otelread_msgpack_decode(const uint8_t *payload, size_t size,
                            struct otelread_decoded *out,
                            struct otelread_fault *fault)
{
    struct otelread_cursor cursor = {
        .payload = payload, .at = 0, .end = size, .fault = fault};

    *fault = (struct otelread_fault){.offset = 0};
    if (otelread_decoded_begin(out, size) != 0)
        return -ENOMEM;
    for (uint32_t left = take_map(&cursor); left > 0; left--) {
        const struct otelread_span key = take_string(&cursor);
        const struct otelread_span value = take_string(&cursor);
        struct otelread_node *node;

        if (otelread_fault_found(fault))
            break;
        node = otelread_decoded_append(out, &out->resource);
        node->key = key;
        node->kind = OTELREAD_STRING;
        node->span = value;
    }
    if (!otelread_fault_found(fault))
        return 0;
    otelread_decoded_free(out);
    return -EBADMSG;
}
