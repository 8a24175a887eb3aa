/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/cursor.h"

#include <stdarg.h>
#include <stdio.h>

/* Protocol Buffers, "Assigning Field Numbers". */
#define FIELD_NUMBER_MAX ((1U << 29) - 1)

#define VARINT_SIZE_MAX 10

void otelread_cursor_fail(const struct otelread_cursor *cursor, size_t offset,
                          const char *format, ...)
{
    struct otelread_fault *const fault = cursor->fault;
    va_list arguments;

    if (otelread_fault_found(fault))
        return;
    fault->offset = offset;
    va_start(arguments, format);
    (void)vsnprintf(fault->why, sizeof(fault->why), format, arguments);
    va_end(arguments);
}

static uint64_t take_varint(struct otelread_cursor *cursor, const char *what)
{
    const size_t start = cursor->at;
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_SIZE_MAX; i++) {
        if (cursor->at == cursor->end) {
            otelread_cursor_fail(cursor, cursor->at, "%s is cut off", what);
            return 0;
        }

        const uint8_t byte = cursor->payload[cursor->at++];
        if (i == VARINT_SIZE_MAX - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80)
            return value;
    }
    otelread_cursor_fail(cursor, start, "%s is longer than 64 bits", what);
    return 0;
}

static uint64_t take_fixed(struct otelread_cursor *cursor, unsigned size)
{
    uint64_t value = 0;

    if (cursor->end - cursor->at < size) {
        otelread_cursor_fail(cursor, cursor->at,
                             "a value of %u bytes is cut off after %zu", size,
                             cursor->end - cursor->at);
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)cursor->payload[cursor->at++] << (8 * i);
    return value;
}

/* The length and the bytes it announces. */
static void take_body(struct otelread_cursor *cursor,
                      struct otelread_field *field)
{
    const size_t start = cursor->at;
    const uint64_t size = take_varint(cursor, "a length");

    if (otelread_fault_found(cursor->fault))
        return;
    field->body = cursor->at;
    if (size > cursor->end - cursor->at) {
        otelread_cursor_fail(
            cursor, start, "length %llu, but its message has %zu bytes left",
            (unsigned long long)size, cursor->end - cursor->at);
        return;
    }
    cursor->at += (size_t)size;
}

static void take_value(struct otelread_cursor *cursor,
                       struct otelread_field *field)
{
    if (field->wire != OTELREAD_LENGTH)
        field->body = cursor->at;
    switch (field->wire) {
    case OTELREAD_VARINT:
        field->value = take_varint(cursor, "a number");
        break;
    case OTELREAD_FIXED64:
        field->value = take_fixed(cursor, 8);
        break;
    case OTELREAD_FIXED32:
        field->value = take_fixed(cursor, 4);
        break;
    case OTELREAD_LENGTH:
        take_body(cursor, field);
        break;
    case OTELREAD_GROUP_START:
    case OTELREAD_GROUP_END:
        otelread_cursor_fail(cursor, field->start,
                             "field %u is a group, which proto3 does not have",
                             field->number);
        break;
    default:
        otelread_cursor_fail(cursor, field->start,
                             "field %u has the unknown wire type %d",
                             field->number, (int)field->wire);
    }
}

bool otelread_cursor_next(struct otelread_cursor *cursor,
                          struct otelread_field *field)
{
    *field = (struct otelread_field){.number = 0};
    if (otelread_fault_found(cursor->fault) || cursor->at == cursor->end)
        return false;

    const size_t start = cursor->at;
    const uint64_t tag = take_varint(cursor, "a field tag");
    const uint64_t number = tag >> 3;

    if (number == 0)
        otelread_cursor_fail(cursor, start, "field number 0");
    else if (number > FIELD_NUMBER_MAX)
        otelread_cursor_fail(cursor, start, "field number %llu is too big",
                             (unsigned long long)number);
    if (otelread_fault_found(cursor->fault))
        return false;

    *field = (struct otelread_field){.number = (uint32_t)number,
                                     .wire = (enum otelread_wire)(tag & 7),
                                     .start = start};
    take_value(cursor, field);
    field->end = cursor->at;
    return !otelread_fault_found(cursor->fault);
}

struct otelread_cursor
otelread_cursor_enter(const struct otelread_cursor *cursor,
                      const struct otelread_field *field)
{
    return (struct otelread_cursor){.payload = cursor->payload,
                                    .at = field->body,
                                    .end = field->end,
                                    .fault = cursor->fault};
}
