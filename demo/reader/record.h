/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_RECORD_H
#define OTELREAD_RECORD_H

#include "demo/reader/decode.h"
#include "demo/reader/keymap.h"
#include "shim/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More attribute bytes than these are not read. */
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
    OTELREAD_RECORD_INVALID,   /* to be ignored, and nothing wrong with it */
    OTELREAD_RECORD_MALFORMED, /* not as the OTEP says; what could be read */
};

/* What a record says. It points into record and key map. */
struct otelread_meaning {
    enum otelread_verdict verdict;
    bool unknown_keys; /* left out, because the map has no such index */
    char why[384];     /* what is odd, or empty */
    struct otelread_list attributes; /* of strings, in the record's order */
    struct otelread_node nodes[OTELCTX_KEYS_MAX];
};

/* How many of attrs are to be read, by what head says. */
size_t otelread_record_attrs_size(const struct otelctx_record_head *head);

/*
 * Of an invalid record nothing is taken, neither ids nor attributes.
 * Rule: OTEP 4947, "Thread-Local Context Record".
 */
void otelread_record_decode(const struct otelread_record *record,
                            const struct otelread_keymap *map,
                            struct otelread_meaning *out);

#endif
