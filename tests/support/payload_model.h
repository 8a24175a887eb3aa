/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "demo/base/utf8.h"
#include "demo/reader/payload/decode.h"
#include "shim/process/payload.h"

/*
 * A simple model of shim/process/payload.c: two lists of pairs. It shares no
 * code with the shim: the reader's library checks texts and decodes payloads.
 * The texts are borrowed.
 */
struct model_list {
    struct {
        struct otelctx_span key, value;
    } pairs[8192]; /* more than any payload holds */
    size_t count;
};

struct model {
    struct model_list places[2];
};

static inline bool model_is_text(struct otelctx_span s)
{
    const uint8_t *bytes = (const void *)s.at;

    return otelbase_utf8_span(bytes, s.size) == s.size &&
           (s.size == 0 || !memchr(s.at, 0, s.size));
}

/* Remove the attributes of one place, one by one. */
static inline void model_clear(struct otelctx_payload *payload, struct model *m,
                               enum otelctx_place place)
{
    struct otelctx_span rest, value;

    while ((rest = otelctx_payload_attributes(payload, place)).size > 0)
        otelctx_payload_set(payload, place, otelctx_payload_take(&rest, &value),
                            (struct otelctx_span){0});
    m->places[place].count = 0;
}

/* The size of a length-delimited field with a number below 16. */
static inline size_t model_field_size(size_t body)
{
    size_t varint = 1;

    for (size_t rest = body; rest > 127; rest >>= 7)
        varint++;
    return 1 + varint + body;
}

static inline size_t model_pair_size(struct otelctx_span key,
                                     struct otelctx_span value)
{
    const size_t any = model_field_size(value.size);

    return model_field_size(model_field_size(key.size) + model_field_size(any));
}

static inline size_t model_list_size(const struct model_list *list)
{
    size_t size = 0;

    for (size_t i = 0; i < list->count; i++)
        size += model_pair_size(list->pairs[i].key, list->pairs[i].value);
    return size;
}

static inline size_t model_size(const struct model *m)
{
    return model_field_size(model_list_size(&m->places[OTELCTX_RESOURCE])) +
           model_list_size(&m->places[OTELCTX_EXTRA]);
}

/* The index of a key, or the number of pairs. */
static inline size_t model_find(const struct model_list *list,
                                struct otelctx_span key)
{
    size_t i = 0;

    while (i < list->count &&
           (list->pairs[i].key.size != key.size ||
            memcmp(list->pairs[i].key.at, key.at, key.size) != 0))
        i++;
    return i;
}

static inline void model_unset(struct model_list *list, struct otelctx_span key)
{
    const size_t i = model_find(list, key);

    if (i == list->count)
        return;
    list->count--;
    memmove(&list->pairs[i], &list->pairs[i + 1],
            (list->count - i) * sizeof(list->pairs[0]));
}

static inline bool model_would_fit(const struct model *m,
                                   enum otelctx_place place,
                                   struct otelctx_span key,
                                   struct otelctx_span value)
{
    const struct model_list *list = &m->places[place];
    const size_t i = model_find(list, key);
    size_t sizes[2];

    for (unsigned at = 0; at < 2; at++)
        sizes[at] = model_list_size(&m->places[at]);
    if (i < list->count)
        sizes[place] -= model_pair_size(key, list->pairs[i].value);
    sizes[place] += model_pair_size(key, value);
    return model_field_size(sizes[OTELCTX_RESOURCE]) + sizes[OTELCTX_EXTRA] <=
           65536;
}

/* What otelctx_payload_set() must return. If 0, the model has changed, too. */
static inline int model_set(struct model *m, enum otelctx_place place,
                            struct otelctx_span key, struct otelctx_span value)
{
    struct model_list *list = &m->places[place];
    size_t i;

    if (key.size == 0 || !model_is_text(key))
        return -EINVAL;
    if (key.size >= 12 && memcmp(key.at, "threadlocal.", 12) == 0)
        return -EPERM;
    if (!model_is_text(value))
        return -EINVAL;
    if (!model_would_fit(m, place, key, value))
        return -ENOSPC;
    i = model_find(list, key);
    list->pairs[i].key = key;
    list->pairs[i].value = value;
    if (i == list->count)
        list->count++;
    return 0;
}

static inline bool model_same_text(struct otelctx_span a,
                                   struct otelread_span b)
{
    return a.size == b.size && (a.size == 0 || !memcmp(a.at, b.bytes, a.size));
}

static inline bool model_same_list(const struct model_list *list,
                                   const struct otelread_list *decoded)
{
    const struct otelread_node *node = decoded->first;

    for (size_t i = 0; i < list->count; i++, node = node->next)
        if (!node || node->kind != OTELREAD_STRING ||
            !model_same_text(list->pairs[i].key, node->key) ||
            !model_same_text(list->pairs[i].value, node->span))
            return false;
    return !node;
}

/* Does the reader decode the encoded payload to the model? */
static inline bool model_is_encoded(const struct model *m,
                                    const struct otelctx_payload *payload)
{
    const size_t size = otelctx_payload_size(payload);
    uint8_t *bytes = malloc(size); /* ASan sees a write beyond it */
    struct otelread_decoded decoded;
    struct otelread_fault fault;
    bool same = size == model_size(m) && size <= OTELCTX_PAYLOAD_MAX;

    otelctx_payload_encode(payload, bytes);
    if (otelread_decode(bytes, size, &decoded, &fault) != 0)
        same = false;
    same = same && decoded.resource_dropped == 0 &&
           model_same_list(&m->places[OTELCTX_RESOURCE], &decoded.resource) &&
           model_same_list(&m->places[OTELCTX_EXTRA], &decoded.extra);
    otelread_decoded_free(&decoded);
    free(bytes);
    return same;
}
