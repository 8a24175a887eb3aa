/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_RECORD_H
#define OTELCTX_RECORD_H

/*
 * The bytes of one thread context. It knows nothing of threads, and nothing of
 * who may be looking: see otelctx_change_tears().
 * Rule: OTEP 4947, "Thread-Local Context Record".
 */

#ifndef OTELCTX_LINK
#define OTELCTX_LINK
#endif
#include "shim/otelctx.h"

#include "config/span.h"

enum {
    OTELCTX_VALUE_MAX = 255 /* bytes: a length is one */
};

/* Are they a trace's, or neither of them? */
bool otelctx_ids_allowed(const struct otelctx_ids *ids);

/* Write everything but `valid`: the ids, and no attributes. */
void otelctx_record_write(struct otelctx_record *record,
                          const struct otelctx_ids *ids);

/*
 * As much of a value as an attribute can have.
 *
 * Returns 0, 1 (it was cut, between two characters) or -EINVAL (not UTF-8).
 */
int otelctx_value_cut(struct otelctx_span *value);

/* One attribute of a record, and what is to stand in its place. */
struct otelctx_change {
    uint16_t at;      /* offset in attrs */
    uint16_t removed; /* bytes of the old one; 0: there is none */
    uint16_t added;   /* bytes of the new one; 0: it is only removed */
};

/*
 * Find the place of an attribute.
 *
 * value  at most OTELCTX_VALUE_MAX bytes; NULL: remove it
 *
 * Returns 0, -ENOSPC, or -EINVAL: the record's owner left attributes in it that
 * are none.
 */
int otelctx_change_plan(const struct otelctx_record *record, uint8_t key,
                        const struct otelctx_span *value,
                        struct otelctx_change *out);

/*
 * Would somebody who looks in the middle of this change see half of it? Then
 * the record has to be hidden meanwhile. Else it can be done in full view.
 * Rule: OTEP 4947, "When growing or shrinking only the attrs-data".
 */
bool otelctx_change_tears(const struct otelctx_record *record,
                          const struct otelctx_change *change);

void otelctx_change_apply(struct otelctx_record *record,
                          const struct otelctx_change *change, uint8_t key,
                          const struct otelctx_span *value);

/* All three in one, for a record that is in no slot: hidden by its `valid`. */
int otelctx_record_change(struct otelctx_record *record, uint8_t key,
                          const struct otelctx_span *value);

#endif
