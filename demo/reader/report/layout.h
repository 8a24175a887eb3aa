/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/decode.h"
#include "shim/wire/process.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a process context looks like. Before OTEP 4719 was accepted there were
 * others, which are decoded all the same. The names are in otelctx-read(1).
 */
enum otelread_layout {
    OTELREAD_LAYOUT_ACCEPTED,
    OTELREAD_LAYOUT_DRAFT,     /* the same fields, by CLOCK_REALTIME */
    OTELREAD_LAYOUT_PACKED,    /* the time in front of the size */
    OTELREAD_LAYOUT_VERSION_1, /* the same fields, for development */
    OTELREAD_LAYOUT_FIRST,     /* version 1 without a time, MessagePack */
};

/* The first 32 bytes of the mapping, as they are. */
struct otelread_raw_header {
    uint8_t bytes[sizeof(struct otelctx_header)];
};

/*
 * Recognises the form of a header with the right signature and version 1 or 2,
 * and tells what its fields are; a time that it lacks is 0.
 */
enum otelread_layout otelread_layout_read(const struct otelread_raw_header *raw,
                                          struct otelctx_header *header);

/* Whether a time of publication must be one of CLOCK_REALTIME. */
bool otelread_layout_is_realtime(uint64_t published_at_ns);

/*
 * Decodes the payload of that form; the older ones may have a Resource without
 * its ProcessContext, and *bare tells so. Returns as otelread_decode() does.
 */
int otelread_layout_decode(enum otelread_layout layout, const uint8_t *payload,
                           size_t size, struct otelread_decoded *out,
                           struct otelread_fault *fault, bool *bare);

/* "accepted" and so on; never NULL. */
const char *otelread_layout_name(enum otelread_layout layout);
