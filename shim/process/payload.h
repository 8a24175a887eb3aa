/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/span.h"
#include "shim/process/protobuf.h"
#include "shim/wire/process.h"

/* An attribute is in one of two places, see process_context.proto. */
enum otelctx_place {
    OTELCTX_RESOURCE, /* ProcessContext.resource.attributes */
    OTELCTX_EXTRA,    /* ProcessContext.extra_attributes */
};

enum {
    OTELCTX_PAYLOAD_VARINT = 6 /* up to 3 are used; the rest is alignment */
};

/*
 * The attributes of a process, stored in their encoded form: the size and the
 * body of the Resource message, which ends with the entity_refs, then the extra
 * attributes as fields of ProcessContext. Encoding the payload therefore takes
 * one tag and one copy. A structure of zeros has no attributes.
 */
struct otelctx_payload {
    uint32_t size[2];   /* bytes, by enum otelctx_place */
    uint32_t refs_size; /* bytes of the Resource that are entity_refs */
    uint32_t reserved;  /* bytes that the key map adds to the payload */
    bool is_complete;   /* identity.h added its attributes; none is missing */
    /* size[OTELCTX_RESOURCE] as a varint, which ends right before bytes[].
     * varint_more counts all of its bytes but the last, so that zeros are the
     * size 0. */
    uint8_t varint_more;
    uint8_t varint[OTELCTX_PAYLOAD_VARINT];
    _Alignas(8) uint8_t bytes[OTELCTX_PAYLOAD_MAX];
};

static_assert(offsetof(struct otelctx_payload, bytes) ==
                  offsetof(struct otelctx_payload, varint) +
                      OTELCTX_PAYLOAD_VARINT,
              "one copy takes the varint and the bytes");

/*
 * Set one attribute. A new key is appended, a known one keeps its position. An
 * unset value removes the attribute.
 *
 * Returns 0, -EINVAL (the key is empty, or key or value is not UTF-8 or has a
 * NUL), -EPERM (the key begins with "threadlocal.": only key_map.c writes such
 * keys; or an entity has the attribute that is to be removed) or -ENOSPC (the
 * payload would exceed OTELCTX_PAYLOAD_MAX). On failure the payload is
 * unchanged. Rule: resource.proto, "Attribute keys MUST be unique".
 */
int otelctx_payload_set(struct otelctx_payload *payload,
                        enum otelctx_place place, struct otelctx_span key,
                        struct otelctx_span value);

bool otelctx_payload_has(const struct otelctx_payload *payload,
                         enum otelctx_place place, struct otelctx_span key);

/* The value of an attribute; at is NULL if there is none. */
struct otelctx_span otelctx_payload_get(const struct otelctx_payload *payload,
                                        enum otelctx_place place,
                                        struct otelctx_span key);

/* The encoded entity_refs: see entity_ref.h. */
struct otelctx_span otelctx_payload_refs(const struct otelctx_payload *payload);

/* Make room for an entity_ref of `size` bytes before the others. Returns the
 * end of that room, or NULL: the payload would exceed OTELCTX_PAYLOAD_MAX. */
uint8_t *otelctx_payload_add_ref(struct otelctx_payload *payload, size_t size);

/* Is it a valid key: not empty, UTF-8 and without a NUL? */
bool otelctx_payload_is_key(struct otelctx_span key);

/* Write one attribute as a field of its place. */
void otelctx_payload_put(struct otelctx_protobuf *out, enum otelctx_place place,
                         struct otelctx_span key, struct otelctx_span value);

/* The same for a value of any type: the encoded AnyValue is all that was
 * written since out->size was `since`. */
void otelctx_payload_put_key(struct otelctx_protobuf *out,
                             enum otelctx_place place, struct otelctx_span key,
                             size_t since);

/* The size of the encoded ProcessContext in bytes, without `reserved`. */
size_t otelctx_payload_size(const struct otelctx_payload *payload);

/* Encode the ProcessContext: otelctx_payload_size() bytes. Returns their end.
 */
uint8_t *otelctx_payload_encode(const struct otelctx_payload *payload,
                                uint8_t *out);

/* The encoded attributes of one place. */
struct otelctx_span
otelctx_payload_attributes(const struct otelctx_payload *payload,
                           enum otelctx_place place);

/* Take the first attribute off encoded ones; returns its key. */
struct otelctx_span otelctx_payload_take(struct otelctx_span *rest,
                                         struct otelctx_span *value);

/* How many bytes of bytes[] are in use. */
size_t otelctx_payload_used(const struct otelctx_payload *payload);

/* Copy the attributes, not the unused part of bytes[]. */
void otelctx_payload_copy(struct otelctx_payload *to,
                          const struct otelctx_payload *from);
