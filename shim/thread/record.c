/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/record.h"

#include <errno.h>

#include "config/utf8.h"
#include "shim/base/order.h"
#include "shim/wire/thread.h"

#define SAME_OFFSET(field)                                                     \
    static_assert(offsetof(struct otelctx_record, field) ==                    \
                      offsetof(struct otelctx_record_head, field),             \
                  "otelctx.h and wire/thread.h differ")
SAME_OFFSET(trace_id);
SAME_OFFSET(span_id);
SAME_OFFSET(valid);
SAME_OFFSET(trace_flags);
SAME_OFFSET(attrs_size);
static_assert(offsetof(struct otelctx_record, attrs) ==
                  sizeof(struct otelctx_record_head),
              "");
static_assert(sizeof(struct otelctx_record) == OTELCTX_RECORD_SIZE, "");

enum {
    ATTRS_MAX = OTELCTX_RECORD_SIZE - sizeof(struct otelctx_record_head),
    HEAD = 2, /* bytes before an attribute's value: key index, length */
    CHARACTER_MAX = 4
};

typedef uint64_t word __attribute__((aligned(1), may_alias));

static uint64_t trace_bits(const struct otelctx_ids *ids)
{
    const word *id = (const word *)ids->trace_id;

    return id[0] | id[1];
}

static uint64_t span_bits(const struct otelctx_ids *ids)
{
    return *(const word *)ids->span_id;
}

bool otelctx_ids_allowed(const struct otelctx_ids *ids)
{
    return (trace_bits(ids) == 0) == (span_bits(ids) == 0);
}

void otelctx_record_write(struct otelctx_record *record,
                          const struct otelctx_ids *ids)
{
    __builtin_memcpy(record->trace_id, ids->trace_id, sizeof(ids->trace_id));
    __builtin_memcpy(record->span_id, ids->span_id, sizeof(ids->span_id));
    record->trace_flags = span_bits(ids) == 0 ? 0 : ids->trace_flags;
    record->attrs_size = 0;
}

int otelctx_value_cut(struct otelctx_span *value)
{
    struct otelctx_span rest = *value;
    size_t whole;

    if (rest.size > OTELCTX_VALUE_MAX)
        rest.size = OTELCTX_VALUE_MAX;
    whole = otelctx_utf8_valid(rest);
    if (whole == value->size)
        return 0;

    /* At the first invalid byte a character must begin that the limit cut. */
    rest.at += whole;
    rest.size = value->size - whole;
    if (rest.size > CHARACTER_MAX)
        rest.size = CHARACTER_MAX;
    if (otelctx_utf8_valid(rest) == 0)
        return -EINVAL;
    value->size = whole;
    return 1;
}

/* The size of the attribute at `at`, or 0 if it does not fit in `left` bytes.
 */
static size_t entry_size(const uint8_t *at, size_t left)
{
    const size_t size = left < HEAD ? HEAD : (size_t)HEAD + at[1];

    return size <= left ? size : 0;
}

int otelctx_change_plan(const struct otelctx_record *record, uint8_t key,
                        const struct otelctx_span *value,
                        struct otelctx_change *out)
{
    const size_t size = record->attrs_size;
    struct otelctx_change c = {.at = (uint16_t)size};
    size_t entry;

    if (size > ATTRS_MAX)
        return -EINVAL;
    for (size_t at = 0; at < size; at += entry) {
        entry = entry_size(record->attrs + at, size - at);
        if (entry == 0)
            return -EINVAL;
        if (record->attrs[at] == key) { /* the last one counts: go on */
            c.at = (uint16_t)at;
            c.removed = (uint16_t)entry;
        }
    }
    if (value)
        c.added = (uint16_t)(HEAD + value->size);
    if (size - c.removed + c.added > ATTRS_MAX)
        return -ENOSPC;
    *out = c;
    return 0;
}

bool otelctx_change_needs_hiding(const struct otelctx_record *record,
                                 const struct otelctx_change *c)
{
    const bool is_last = c->at + c->removed == record->attrs_size;

    return c->removed > 0 && (c->added > 0 || !is_last);
}

void otelctx_change_apply(struct otelctx_record *record,
                          const struct otelctx_change *c, uint8_t key,
                          const struct otelctx_span *value)
{
    uint8_t *const at = record->attrs + c->at;
    const size_t end = (size_t)c->at + c->removed;
    const size_t size = record->attrs_size;

    if (c->removed != c->added && end < size)
        memmove(at + c->added, record->attrs + end, size - end);
    if (c->added > 0) {
        at[0] = key;
        at[1] = (uint8_t)value->size;
        if (value->size > 0)
            memcpy(at + HEAD, value->at, value->size);
    }
    otelctx_store_visible(&record->attrs_size,
                          (uint16_t)(size - c->removed + c->added));
}

int otelctx_record_change(struct otelctx_record *record, uint8_t key,
                          const struct otelctx_span *value)
{
    const uint8_t valid = record->valid;
    struct otelctx_change c;
    const int err = otelctx_change_plan(record, key, value, &c);

    if (err)
        return err;
    if (otelctx_change_needs_hiding(record, &c))
        otelctx_store_visible(&record->valid, (uint8_t)0);
    otelctx_change_apply(record, &c, key, value);
    otelctx_store_visible(&record->valid, valid);
    return 0;
}
