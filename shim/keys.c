/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/keys.h"

#include <errno.h>

#include "shim/order.h"
#include "shim/pb.h"

/* Field numbers of common.proto; payload.c has the rest. */
enum {
    ANY_VALUE_STRING_VALUE = 1,
    ANY_VALUE_ARRAY_VALUE = 5,
    ARRAY_VALUE_VALUES = 1,
};
enum {
    HIDDEN = UINT8_MAX /* no schema is that long */
};

/* The first one is what readers take today, the other one has no key map. */
#define DEFAULT_SCHEMA OTELCTX_SPAN("tlsdesc_v1_dev")
#define GO_SCHEMA      OTELCTX_SPAN("go_pprof_labels_v1")

/* struct otelctx_keys, used: the lower half is bytes, the upper one keys. */
static size_t size_of(uint64_t used)
{
    return (size_t)(used & UINT32_MAX);
}

static uint64_t used_with(unsigned count, size_t size)
{
    return (uint64_t)count << 32 | size;
}

static struct otelctx_span schema_of(const struct otelctx_keys *keys)
{
    return keys->schema_size == 0
               ? DEFAULT_SCHEMA
               : (struct otelctx_span){keys->schema, keys->schema_size};
}

/* There is nothing to be said of threads. */
static bool is_hidden(const struct otelctx_keys *keys)
{
    return keys->schema_size == HIDDEN;
}

static bool has_map(const struct otelctx_keys *keys)
{
    return !is_hidden(keys) && !otelctx_span_equal(schema_of(keys), GO_SCHEMA);
}

void otelctx_keys_hide(struct otelctx_keys *keys)
{
    keys->schema_size = HIDDEN;
    keys->head_for = 0;
}

int otelctx_keys_set_schema(struct otelctx_keys *keys,
                            struct otelctx_span schema)
{
    if (schema.size > OTELCTX_SCHEMA_MAX)
        return -ENOSPC;
    memcpy(keys->schema, schema.at, schema.size);
    keys->schema_size = (uint8_t)schema.size;
    keys->head_for = 0;
    return 0;
}

unsigned otelctx_keys_count(const struct otelctx_keys *keys)
{
    return (unsigned)(keys->used >> 32);
}

int otelctx_keys_find(const struct otelctx_keys *keys, struct otelctx_span name)
{
    struct otelctx_span rest = {(const char *)keys->bytes, size_of(keys->used)};

    for (int index = 0; rest.size > 0; index++) {
        struct otelctx_span any_value = otelctx_pb_take(&rest);

        if (otelctx_span_equal(otelctx_pb_take(&any_value), name))
            return index;
    }
    return -ENOENT;
}

int otelctx_keys_add(struct otelctx_keys *keys, struct otelctx_span name)
{
    const unsigned count = otelctx_keys_count(keys);
    const size_t before = size_of(keys->used);
    /* One element of the array: an AnyValue with a string. */
    const size_t value_size = otelctx_pb_size(name.size);
    const size_t size = before + otelctx_pb_size(value_size);
    uint8_t *out = keys->bytes + before;

    if (!otelctx_payload_is_key(name))
        return -EINVAL;
    if (!has_map(keys))
        return -EOPNOTSUPP;
    if (count == OTELCTX_KEYS_MAX || size > sizeof(keys->bytes))
        return -ENOSPC;

    out = otelctx_pb_field(out, ARRAY_VALUE_VALUES, value_size);
    (void)otelctx_pb_bytes(out, ANY_VALUE_STRING_VALUE, name);
    otelctx_store_release(&keys->used, used_with(count + 1, size));
    return (int)count;
}

/* The head of the AnyValue whose array is what `bytes` has. */
static uint8_t *put_map_head(uint8_t *out, size_t size)
{
    out = otelctx_payload_put_key(out, OTELCTX_EXTRA,
                                  OTELCTX_SPAN(OTELCTX_KEY_MAP_KEY),
                                  otelctx_pb_size(size));
    return otelctx_pb_field(out, ANY_VALUE_ARRAY_VALUE, size);
}

/* Kept, because updates are more frequent than keys. */
static void make_head(struct otelctx_keys *keys)
{
    uint8_t *out = keys->head;

    if (keys->head_for == keys->used + 1)
        return;
    if (!is_hidden(keys))
        out = otelctx_payload_put(out, OTELCTX_EXTRA,
                                  OTELCTX_SPAN(OTELCTX_SCHEMA_VERSION_KEY),
                                  schema_of(keys));
    if (has_map(keys))
        out = put_map_head(out, size_of(keys->used));
    keys->head_size = (size_t)(out - keys->head);
    otelctx_store_release(&keys->head_for, keys->used + 1);
}

size_t otelctx_keys_size(struct otelctx_keys *keys)
{
    make_head(keys);
    return keys->head_size + size_of(keys->used);
}

void otelctx_keys_encode(struct otelctx_keys *keys, uint8_t *out)
{
    make_head(keys);
    memcpy(out, keys->head, keys->head_size);
    if (keys->used > 0)
        memcpy(out + keys->head_size, keys->bytes, size_of(keys->used));
}
