/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the process context says about thread contexts: the extra attributes
 * whose keys begin with "threadlocal.". The map of keys is stored in its
 * encoded form. One store appends a key, so a fork at any moment leaves the
 * child a complete map. Rule: OTEP 4947, "Process Context: Thread-Local
 * Reference Data".
 */

#include "config/limits.h"
#include "shim/process/payload.h"

enum {
    OTELCTX_KEYS_HEAD_MAX = 256 /* a schema, two keys and their heads */
};

/* Zeros mean the default schema and no keys. `bytes` comes first, so that the
 * other fields, which are used even without keys, share a page with the memory
 * that follows. */
struct otelctx_key_map {
    uint8_t bytes[OTELCTX_PAYLOAD_MAX]; /* the body of an ArrayValue */
    uint64_t used;       /* how many bytes and keys, see key_map.c */
    uint8_t schema_size; /* 0: the default schema; HIDDEN: no schema */
    char schema[OTELCTX_SCHEMA_MAX];
    /* What is encoded before `bytes`, at the end of head[]. It is valid while
     * head_for is used + 1. */
    uint64_t head_for;
    size_t head_size;
    uint8_t head[OTELCTX_KEYS_HEAD_MAX];
};

/* Returns 0 or -ENOSPC (the name is longer than OTELCTX_SCHEMA_MAX). */
int otelctx_key_map_set_schema(struct otelctx_key_map *keys,
                               struct otelctx_span schema);

/* Leave out everything about threads until a schema is set. */
void otelctx_key_map_hide(struct otelctx_key_map *keys);

/* The index of a key, or -ENOENT. */
int otelctx_key_map_find(const struct otelctx_key_map *keys,
                         struct otelctx_span name);

/*
 * Append a key that is not in the map yet.
 *
 * Returns its index, -EINVAL (empty, not UTF-8, or with a NUL), -ENOSPC (the
 * map has 256 keys, or no room) or -EOPNOTSUPP (the schema has no key map, or
 * there is no schema). On failure the map is unchanged.
 */
int otelctx_key_map_add(struct otelctx_key_map *keys, struct otelctx_span name);

unsigned otelctx_key_map_count(const struct otelctx_key_map *keys);

/* The size of the encoded keys in bytes. */
size_t otelctx_key_map_used(const struct otelctx_key_map *keys);

/* The size of the attributes in bytes, as fields of ProcessContext. */
size_t otelctx_key_map_size(struct otelctx_key_map *keys);
void otelctx_key_map_encode(struct otelctx_key_map *keys, uint8_t *out);
