/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/payload/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Protocol Buffers, "Encoding", "Message Structure". */
enum otelread_wire {
    OTELREAD_VARINT = 0,
    OTELREAD_FIXED64 = 1,
    OTELREAD_LENGTH = 2,
    OTELREAD_GROUP_START = 3,
    OTELREAD_GROUP_END = 4,
    OTELREAD_FIXED32 = 5,
};

/* One field on the wire. Offsets count from the start of the payload. */
struct otelread_field {
    uint32_t number;
    enum otelread_wire wire;
    size_t start; /* of the tag */
    size_t body;  /* of the value; behind the length where there is one */
    size_t end;
    uint64_t value; /* VARINT, FIXED64 and FIXED32 */
};

/*
 * Reads the fields of one message, never past its end. The first fault is kept
 * in *fault and ends the reading of every cursor that shares it.
 */
struct otelread_cursor {
    const uint8_t *payload;
    size_t at, end; /* the message, as offsets into the payload */
    struct otelread_fault *fault;
};

/*
 * Reads the next field. Returns false at the end and after a fault; *field then
 * has what could be read: number is 0 without a tag, body 0 without a length.
 */
bool otelread_cursor_next(struct otelread_cursor *cursor,
                          struct otelread_field *field);

/* A cursor over the message that a LENGTH field holds. */
struct otelread_cursor
otelread_cursor_enter(const struct otelread_cursor *cursor,
                      const struct otelread_field *field);

/* Records a fault, unless there is one already. */
__attribute__((format(printf, 3, 4))) void
otelread_cursor_fail(const struct otelread_cursor *cursor, size_t offset,
                     const char *format, ...);
