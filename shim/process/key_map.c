/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/key_map.h"

#include <errno.h>

#include "shim/base/order.h"
#include "shim/process/protobuf.h"
#include "shim/wire/thread.h"

/* Field numbers of common.proto; payload.c has the rest. */
enum {
    ANY_VALUE_STRING_VALUE = 1,
    ANY_VALUE_ARRAY_VALUE = 5,
    ARRAY_VALUE_VALUES = 1,
};
enum {
    HIDDEN = UINT8_MAX /* no schema is that long */
};

/* Today's readers accept the first one. The other one has no key map. */
#define DEFAULT_SCHEMA OTELCTX_SPAN("tlsdesc_v1_dev")
#define GO_SCHEMA      OTELCTX_SPAN(OTELCTX_GO_SCHEMA)

/* struct otelctx_key_map, used: bytes in the lower half, keys in the upper. */
static size_t size_of(uint64_t used)
{
    return (size_t)(used & UINT32_MAX);
}

static uint64_t used_with(unsigned count, size_t size)
{
    return (uint64_t)count << 32 | size;
}

static struct otelctx_span schema_of(const struct otelctx_key_map *keys)
{
    return keys->schema_size == 0
               ? DEFAULT_SCHEMA
               : (struct otelctx_span){keys->schema, keys->schema_size};
}

/* Does the process context say nothing about threads? */
static bool is_hidden(const struct otelctx_key_map *keys)
{
    return keys->schema_size == HIDDEN;
}

static bool has_map(const struct otelctx_key_map *keys)
{
    return !is_hidden(keys) && !otelctx_span_equal(schema_of(keys), GO_SCHEMA);
}

void otelctx_key_map_hide(struct otelctx_key_map *keys)
{
    keys->schema_size = HIDDEN;
    keys->head_for = 0;
}

int otelctx_key_map_set_schema(struct otelctx_key_map *keys,
                               struct otelctx_span schema)
{
    if (schema.size > OTELCTX_SCHEMA_MAX)
        return -ENOSPC;
    memcpy(keys->schema, schema.at, schema.size);
    keys->schema_size = (uint8_t)schema.size;
    keys->head_for = 0;
    return 0;
}

unsigned otelctx_key_map_count(const struct otelctx_key_map *keys)
{
    return (unsigned)(keys->used >> 32);
}

size_t otelctx_key_map_used(const struct otelctx_key_map *keys)
{
    return size_of(keys->used);
}

int otelctx_key_map_find(const struct otelctx_key_map *keys,
                         struct otelctx_span name)
{
    struct otelctx_span rest = {(const char *)keys->bytes, size_of(keys->used)};

    for (int index = 0; rest.size > 0; index++) {
        struct otelctx_span any_value = otelctx_protobuf_take(&rest);

        if (otelctx_span_equal(otelctx_protobuf_take(&any_value), name))
            return index;
    }
    return -ENOENT;
}

/* One element of the array: an AnyValue with a string. */
static void put_name(struct otelctx_protobuf *out, struct otelctx_span name)
{
    const size_t since = out->size;

    otelctx_protobuf_bytes(out, ANY_VALUE_STRING_VALUE, name);
    otelctx_protobuf_head(out, ARRAY_VALUE_VALUES, since);
}

int otelctx_key_map_add(struct otelctx_key_map *keys, struct otelctx_span name)
{
    const unsigned count = otelctx_key_map_count(keys);
    struct otelctx_protobuf counted = {NULL, size_of(keys->used)}, out = {0};

    put_name(&counted, name);
    if (!has_map(keys))
        return -EOPNOTSUPP;
    if (!otelctx_payload_is_key(name))
        return -EINVAL;
    if (count == OTELCTX_KEYS_MAX || counted.size > sizeof(keys->bytes))
        return -ENOSPC;

    out.at = keys->bytes + counted.size;
    put_name(&out, name);
    otelctx_store_release(&keys->used, used_with(count + 1, counted.size));
    return (int)count;
}

OTELCTX_RARE static void make_head(struct otelctx_key_map *keys)
{
    /* The body of the map counts as written: it is in `bytes`. */
    struct otelctx_protobuf out = {keys->head + sizeof(keys->head),
                                   size_of(keys->used)};

    if (has_map(keys)) {
        otelctx_protobuf_head(&out, ANY_VALUE_ARRAY_VALUE, 0);
        otelctx_payload_put_key(&out, OTELCTX_EXTRA,
                                OTELCTX_SPAN(OTELCTX_KEY_MAP_KEY), 0);
    }
    if (!is_hidden(keys))
        otelctx_payload_put(&out, OTELCTX_EXTRA,
                            OTELCTX_SPAN(OTELCTX_SCHEMA_VERSION_KEY),
                            schema_of(keys));
    keys->head_size = out.size - size_of(keys->used);
    otelctx_store_release(&keys->head_for, keys->used + 1);
}

/* The head is stored, because updates are more frequent than new keys. */
OTELCTX_INLINE void renew_head(struct otelctx_key_map *keys)
{
    if (keys->head_for != keys->used + 1)
        make_head(keys);
}

size_t otelctx_key_map_size(struct otelctx_key_map *keys)
{
    renew_head(keys);
    return keys->head_size + size_of(keys->used);
}

void otelctx_key_map_encode(struct otelctx_key_map *keys, uint8_t *out)
{
    renew_head(keys);
    memcpy(out, keys->head + sizeof(keys->head) - keys->head_size,
           keys->head_size);
    if (keys->used > 0)
        memcpy(out + keys->head_size, keys->bytes, size_of(keys->used));
}
