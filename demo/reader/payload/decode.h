/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/fault.h"
#include "demo/reader/payload/list.h"

#include <stddef.h>
#include <stdint.h>

/* Arrays and lists inside each other; the outermost is 1. */
#define OTELREAD_DEPTH_MAX 16

/* An EntityRef. The keys are nodes of kind STRING. */
struct otelread_entity {
    struct otelread_span type;
    struct otelread_span schema_url;
    struct otelread_list id_keys;
    struct otelread_list description_keys;
};

/* A ProcessContext, in wire order. It points into the payload. */
struct otelread_decoded {
    struct otelread_list resource;
    uint32_t resource_dropped;
    struct otelread_entity *entities;
    size_t entities_count;
    struct otelread_list extra;
    struct otelread_node *nodes;
    size_t nodes_used;
};

/*
 * Decodes a payload as protobuf says: unknown fields are skipped, of repeated
 * singular fields the last wins, messages merge. A known field of another
 * wire type is a fault, because some readers reject the context for it.
 *
 * Returns 0, -EBADMSG with *fault filled in, or -ENOMEM. When it fails, *out
 * is empty. Free *out with otelread_decoded_free().
 */
int otelread_decode(const uint8_t *payload, size_t size,
                    struct otelread_decoded *out, struct otelread_fault *fault);

/* The same of a Resource that is in no ProcessContext. */
int otelread_decode_resource(const uint8_t *payload, size_t size,
                             struct otelread_decoded *out,
                             struct otelread_fault *fault);

/*
 * Makes room for what a payload of so many bytes can have. Returns 0 or
 * -ENOMEM.
 */
int otelread_decoded_begin(struct otelread_decoded *decoded, size_t size);

/* Appends an empty node. There is room for one for every two bytes. */
struct otelread_node *otelread_decoded_append(struct otelread_decoded *decoded,
                                              struct otelread_list *list);

void otelread_decoded_free(struct otelread_decoded *decoded);
