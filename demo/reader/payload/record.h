/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/keymap.h"
#include "demo/reader/payload/list.h"
#include "shim/wire/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attribute bytes beyond these are not read. */
#define OTELREAD_ATTRS_MAX                                                     \
    (OTELCTX_RECORD_SIZE - sizeof(struct otelctx_record_head))

/* A record as it was in memory. */
struct otelread_record {
    uint64_t address;
    struct otelctx_record_head head;
    bool attrs_missing;                /* they could not be read */
    uint8_t attrs[OTELREAD_ATTRS_MAX]; /* otelread_record_attrs_size() */
};

enum otelread_verdict {
    OTELREAD_RECORD_VALID,
    OTELREAD_RECORD_INVALID,   /* valid is not 1: readers ignore the record */
    OTELREAD_RECORD_MALFORMED, /* violates the OTEP; has what could be read */
};

/* What a record says. It points into record and key map. */
struct otelread_meaning {
    enum otelread_verdict verdict;
    bool unknown_keys; /* some indexes are not in the map, and left out */
    struct otelread_list attributes; /* of strings, in the record's order */
    struct otelread_node *nodes;     /* those of the list, allocated */
};

/* How many bytes of attrs to read for this head. */
size_t otelread_record_attrs_size(const struct otelctx_record_head *head);

/*
 * Decodes a record; an invalid one yields no attributes. Free *out with
 * otelread_meaning_free().
 *
 * Returns 0, with a sentence about what is odd in why, or an empty one; or
 * -ENOMEM.
 * Rule: OTEP 4947, "Thread-Local Context Record".
 */
int otelread_record_decode(const struct otelread_record *record,
                           const struct otelread_keymap *map,
                           struct otelread_meaning *out, char *why,
                           size_t why_size);

void otelread_meaning_free(struct otelread_meaning *meaning);
