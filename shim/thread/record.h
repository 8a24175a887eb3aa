/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The bytes of one thread context record. Callers must hide the record from
 * readers when otelctx_change_needs_hiding() says so; otelctx_record_change()
 * does that itself.
 * Rule: OTEP 4947, "Thread-Local Context Record".
 */

#ifndef OTELCTX_LINK
#define OTELCTX_LINK
#endif
#include "config/span.h"
#include "shim/otelctx.h"

enum {
    OTELCTX_VALUE_MAX = 255 /* bytes; an attribute's length is one byte */
};

/* Are both ids zero (no trace), or both not zero? */
bool otelctx_ids_allowed(const struct otelctx_ids *ids);

/* Write the ids, and attributes of size 0; leave `valid` as it is. */
void otelctx_record_write(struct otelctx_record *record,
                          const struct otelctx_ids *ids);

/*
 * Shorten a value to at most OTELCTX_VALUE_MAX bytes, at a character boundary.
 *
 * Returns 0, 1 (the value was cut) or -EINVAL (the value is not UTF-8).
 */
int otelctx_value_cut(struct otelctx_span *value);

/* The replacement of one attribute in a record. */
struct otelctx_change {
    uint16_t at;      /* offset in attrs */
    uint16_t removed; /* size of the old attribute; 0: the key is new */
    uint16_t added;   /* size of the new attribute; 0: none, only remove */
};

/*
 * Plan to set or remove one attribute.
 *
 * value  at most OTELCTX_VALUE_MAX bytes; NULL: remove the attribute
 *
 * Returns 0, -ENOSPC (no room) or -EINVAL (the record contains malformed
 * attributes, which its owner wrote).
 */
int otelctx_change_plan(const struct otelctx_record *record, uint8_t key,
                        const struct otelctx_span *value,
                        struct otelctx_change *out);

/*
 * Would a reader that stops the thread in the middle of the change see part of
 * it? Then the record must be hidden from readers while it is changed.
 * Appending an attribute or removing the last one takes effect with a single
 * store, of attrs_size.
 * Rule: OTEP 4947, "When growing or shrinking only the attrs-data".
 */
bool otelctx_change_needs_hiding(const struct otelctx_record *record,
                                 const struct otelctx_change *change);

/* Make a planned change. */
void otelctx_change_apply(struct otelctx_record *record,
                          const struct otelctx_change *change, uint8_t key,
                          const struct otelctx_span *value);

/* Plan and make a change in a record that is not attached; hides the record, if
 * need be, by setting `valid` to 0 meanwhile. Returns as otelctx_change_plan().
 */
int otelctx_record_change(struct otelctx_record *record, uint8_t key,
                          const struct otelctx_span *value);
