/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/stage/bytes.h"

#include <string.h>

enum {
    WIRE_LENGTH = 2,
    VARINT_MAX = 10 /* bytes */
};

void otelkit_put(struct otelkit_bytes *bytes, const void *data, size_t size)
{
    if (size > sizeof(bytes->at) - bytes->size)
        return;
    memcpy(bytes->at + bytes->size, data, size);
    bytes->size += size;
}

static size_t varint_encode(uint8_t out[VARINT_MAX], uint64_t value)
{
    size_t size = 0;

    for (; value > 127; value >>= 7)
        out[size++] = (uint8_t)(value | 128);
    out[size++] = (uint8_t)value;
    return size;
}

void otelkit_varint(struct otelkit_bytes *bytes, uint64_t value)
{
    uint8_t encoded[VARINT_MAX];
    const size_t size = varint_encode(encoded, value);

    otelkit_put(bytes, encoded, size);
}

size_t otelkit_open(struct otelkit_bytes *bytes, unsigned field)
{
    otelkit_varint(bytes, (uint64_t)field << 3 | WIRE_LENGTH);
    return bytes->size;
}

/* The length is known now: moves the body to make room for it. */
void otelkit_close(struct otelkit_bytes *bytes, size_t opened)
{
    uint8_t encoded[VARINT_MAX];
    const size_t body = bytes->size - opened;
    const size_t size = varint_encode(encoded, body);

    if (size > sizeof(bytes->at) - bytes->size)
        return;
    memmove(bytes->at + opened + size, bytes->at + opened, body);
    memcpy(bytes->at + opened, encoded, size);
    bytes->size += size;
}

void otelkit_string(struct otelkit_bytes *bytes, unsigned field,
                    const char *text)
{
    const size_t opened = otelkit_open(bytes, field);

    otelkit_put(bytes, text, strlen(text));
    otelkit_close(bytes, opened);
}

void otelkit_pair(struct otelkit_bytes *bytes, unsigned field, const char *key,
                  const char *value)
{
    const size_t pair = otelkit_open(bytes, field);

    otelkit_string(bytes, OTELKIT_PAIR_KEY, key);
    const size_t any = otelkit_open(bytes, OTELKIT_PAIR_VALUE);
    otelkit_string(bytes, OTELKIT_VALUE_STRING, value);
    otelkit_close(bytes, any);
    otelkit_close(bytes, pair);
}

void otelkit_service(struct otelkit_bytes *bytes, const char *name)
{
    const size_t resource = otelkit_open(bytes, OTELKIT_CONTEXT_RESOURCE);

    otelkit_pair(bytes, OTELKIT_RESOURCE_ATTRIBUTES, "service.name", name);
    otelkit_close(bytes, resource);
}
