/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/timeline/model.h"

/* Bytes that grow. Zeros are empty ones. */
struct oteltime_bytes {
    uint8_t *bytes;
    size_t size, room;
};

/* LEB128: seven bits a byte, the lowest first. */
void oteltime_bytes_number(struct oteltime_bytes *out, uint64_t number);

/* Times on the page count in these. */
#define OTELTIME_UNIT_NS 10000

/*
 * The boxes as the script of the page unpacks them, sorted by row.
 *
 * boxes   of each row in turn: how many there are, then for each box
 *           flags     which of the following parts are there:
 *             1 gap     from the end of the box before it (else 0)
 *             2 wall    minus the length, zigzag (else 0)
 *             4 samples (else the length times the rate, rounded; at least 1)
 *             8 stopped how many samples were not running (else 0)
 *            16 context 0 + reason * 2, or 1 + (distance back among spans) * 2
 *                       (else the span that is next in spans)
 *           the length, the parts, the wall time minus the CPU time (zigzag)
 * spans   in the order of their first box: the id (8 bytes), the flags, the
 *         number of the set, and the distance back among traces, where 0 is the
 *         trace that is next in traces
 * traces  their ids (16 bytes)
 *
 * Flags and ids are bytes, all else are numbers in LEB128; times in units.
 */
struct oteltime_packed {
    struct oteltime_bytes boxes, spans, traces;
    size_t box_count, span_count, trace_count;
};

/* rows: the order of the rows on the page. */
struct oteltime_packed oteltime_pack(const struct oteltime_timeline *timeline,
                                     const size_t *rows);

void oteltime_packed_free(struct oteltime_packed *packed);
