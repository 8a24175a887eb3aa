/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PAYLOAD_H
#define OTELCTX_PAYLOAD_H

#include <stdint.h>

#include "config/span.h"
#include "shim/pb.h"
#include "shim/wire.h"

/* The two places that an attribute can be in, see process_context.proto. */
enum otelctx_place {
    OTELCTX_RESOURCE, /* ProcessContext.resource.attributes */
    OTELCTX_EXTRA,    /* ProcessContext.extra_attributes */
};

/*
 * The attributes of a process, kept as they are encoded: first the body of the
 * Resource message, then the extra attributes as fields of ProcessContext. So
 * to encode the payload is to put one field's head before a copy.
 */
struct otelctx_payload {
    uint32_t size[2];  /* bytes, by enum otelctx_place */
    uint32_t reserved; /* bytes that others will add when it is encoded */
    bool is_complete;  /* somebody saw to it, and nothing was removed */
    _Alignas(8) uint8_t bytes[OTELCTX_PAYLOAD_MAX];
};

/*
 * Set one attribute, behind the others, or in its place if it is there already.
 * A value that is unset removes it.
 *
 * Returns 0, -EINVAL (empty key; key or value not UTF-8, or with a NUL), -EPERM
 * (a key that begins with "threadlocal.", which only the thread context may
 * set) or -ENOSPC (the payload would be longer than OTELCTX_PAYLOAD_MAX). On
 * failure nothing has changed.
 * Rule: resource.proto, "Attribute keys MUST be unique".
 */
int otelctx_payload_set(struct otelctx_payload *payload,
                        enum otelctx_place place, struct otelctx_span key,
                        struct otelctx_span value);

bool otelctx_payload_has(const struct otelctx_payload *payload,
                         enum otelctx_place place, struct otelctx_span key);

/* Remove all of one place. */
void otelctx_payload_clear(struct otelctx_payload *payload,
                           enum otelctx_place place);

/* Can it be one: not empty, UTF-8 and without a NUL? */
bool otelctx_payload_is_key(struct otelctx_span key);

/* Encode one attribute as a field of where it is; returns where that ends. */
uint8_t *otelctx_payload_put(uint8_t *out, enum otelctx_place place,
                             struct otelctx_span key,
                             struct otelctx_span value);

/* All of it but the AnyValue, whose `value_size` bytes must follow. */
uint8_t *otelctx_payload_put_key(uint8_t *out, enum otelctx_place place,
                                 struct otelctx_span key, size_t value_size);

/* The size of the encoded ProcessContext in bytes, without what is reserved. */
size_t otelctx_payload_size(const struct otelctx_payload *payload);

/* Encode the ProcessContext into otelctx_payload_size() bytes; returns where
 * they end. */
uint8_t *otelctx_payload_encode(const struct otelctx_payload *payload,
                                uint8_t *out);

/* What some readers will not take, although the eBPF profiler, OBI and the
 * datadog-agent do; NULL when all of them will. */
const char *otelctx_payload_beyond(const struct otelctx_payload *payload);

/* How many of the bytes are in use. */
size_t otelctx_payload_used(const struct otelctx_payload *payload);

/* Copy what is set, not the whole structure. */
void otelctx_payload_copy(struct otelctx_payload *to,
                          const struct otelctx_payload *from);

#endif
