/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_KEYS_H
#define OTELCTX_KEYS_H

/*
 * What the process context says about thread contexts: the extra attributes
 * whose keys begin with "threadlocal.". The map of keys is kept as it is
 * encoded, and grows at its end by one store: so a child that was forked in
 * the middle has one that is whole.
 * Rule: OTEP 4947, "Process Context: Thread-Local Reference Data".
 */

#include "shim/payload.h"

enum {
    OTELCTX_SCHEMA_MAX = 127,   /* bytes of its name */
    OTELCTX_KEYS_HEAD_MAX = 256 /* that, two keys and some lengths */
};

/* All zero: the default schema and no keys. The bytes come first, so that what
 * is there without keys, too, is in one page with what follows. */
struct otelctx_keys {
    uint8_t bytes[OTELCTX_PAYLOAD_MAX]; /* the body of an ArrayValue */
    uint64_t used;       /* bytes, and how many keys: see keys.c */
    uint8_t schema_size; /* 0: the default; HIDDEN: say nothing */
    char schema[OTELCTX_SCHEMA_MAX];
    /* All that is encoded before `bytes`; good for `used` keys, if any. */
    uint64_t head_for;
    size_t head_size;
    uint8_t head[OTELCTX_KEYS_HEAD_MAX];
};

/* Returns 0 or -ENOSPC: longer than OTELCTX_SCHEMA_MAX. */
int otelctx_keys_set_schema(struct otelctx_keys *keys,
                            struct otelctx_span schema);

/* Say nothing of threads, until a schema is set. */
void otelctx_keys_hide(struct otelctx_keys *keys);

/* The index of a key, or -ENOENT. */
int otelctx_keys_find(const struct otelctx_keys *keys,
                      struct otelctx_span name);

/*
 * Append a key that is not there yet.
 *
 * Returns its index, -EINVAL (empty, not UTF-8, or with a NUL), -ENOSPC (256
 * keys are there, or no room is) or -EOPNOTSUPP (the schema has no keys, or
 * there is none). On
 * failure nothing has changed.
 */
int otelctx_keys_add(struct otelctx_keys *keys, struct otelctx_span name);

unsigned otelctx_keys_count(const struct otelctx_keys *keys);

/* The size of the attributes in bytes, as fields of ProcessContext. */
size_t otelctx_keys_size(struct otelctx_keys *keys);
void otelctx_keys_encode(struct otelctx_keys *keys, uint8_t *out);

#endif
