/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/raw.h"

#include "demo/base/double.h"
#include "demo/base/escape.h"
#include "demo/reader/payload/cursor.h"
#include "demo/reader/payload/schema.h"
#include "demo/reader/print/heading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ROW_SIZE 16

/* Messages nested deeper than a valid payload has are shown as bytes. */
#define DEPTH_MAX (3 * OTELREAD_DEPTH_MAX + 4)

/* The text on the right is cut here; the bytes on the left are complete. */
#define TEXT_MAX 48

/* The bytes being dumped, and the byte of them to point at. */
struct dump {
    FILE *out;
    const uint8_t *bytes;
    const struct otelread_fault *fault;
};

/* Marks the byte at fault with "^^" below it, if this row has it. */
static void mark_print(const struct dump *dump, size_t start, size_t end)
{
    const struct otelread_fault *const fault = dump->fault;

    if (!otelread_fault_found(fault) || fault->offset < start ||
        fault->offset >= end)
        return;
    (void)fprintf(dump->out, "          %*s^^ byte %zu: %s\n",
                  (int)(3 * (fault->offset - start)), "", fault->offset,
                  fault->why);
}

/* Offset, bytes in hexadecimal, meaning; further rows for the rest. */
__attribute__((format(printf, 5, 6))) static void
rows_print(const struct dump *dump, size_t start, size_t end, unsigned depth,
           const char *format, ...)
{
    size_t at = start;

    do {
        const size_t stop = end - at > ROW_SIZE ? at + ROW_SIZE : end;

        (void)fprintf(dump->out, "    %04zx ", at);
        for (size_t i = at; i < stop; i++)
            (void)fprintf(dump->out, " %02x", dump->bytes[i]);
        if (at == start) {
            va_list arguments;

            (void)fprintf(dump->out, "%*s", (int)(3 * (at + ROW_SIZE - stop)),
                          "");
            (void)fprintf(dump->out, "  %*s", (int)(2 * depth), "");
            va_start(arguments, format);
            (void)vfprintf(dump->out, format, arguments);
            va_end(arguments);
        }
        (void)fputc('\n', dump->out);
        mark_print(dump, at, stop);
        at = stop;
    } while (at < end);
}

/*
 * The header is 32 bytes: its fields, as OTEP 4719's table has them, or in the
 * order of an older form.
 */
static void fields_print(const struct dump *dump,
                         const struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;
    const bool packed = context->layout == OTELREAD_LAYOUT_PACKED;
    const bool first = context->layout == OTELREAD_LAYOUT_FIRST;

    if (packed)
        rows_print(dump, 12, 20, 0, "published_at_ns %" PRIu64,
                   header->published_at_ns);
    rows_print(dump, packed ? 20 : 12, packed ? 24 : 16, 0, "payload_size %u",
               header->payload_size);
    if (!packed && !first)
        rows_print(dump, 16, 24, 0, "published_at_ns %" PRIu64,
                   header->published_at_ns);
    rows_print(dump, first ? 16 : 24, first ? 24 : 32, 0, "payload 0x%" PRIx64,
               header->payload);
}

static void header_print(FILE *out, const struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;
    const struct otelread_fault none = {.offset = 0};
    const struct dump dump = {out, context->raw.bytes, &none};
    const size_t size = context->layout == OTELREAD_LAYOUT_FIRST
                            ? offsetof(struct otelctx_header, payload)
                            : sizeof(*header);
    char signature[4 * OTELCTX_SIGNATURE_SIZE + 1];

    otelbase_escape_copy(signature, sizeof(signature), header->signature,
                         sizeof(header->signature));
    (void)fprintf(out, "  header at 0x%" PRIx64 ", %zu bytes\n",
                  context->mapping.start, size);
    rows_print(&dump, 0, 8, 0, "signature \"%s\"", signature);
    rows_print(&dump, 8, 12, 0, "version %u", header->version);
    fields_print(&dump, context);
}

static void string_print(const struct dump *dump,
                         const struct otelread_field *field, unsigned depth,
                         const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);

    if (memory) {
        otelbase_escape_print_start(memory, dump->bytes + field->body,
                                    field->end - field->body, TEXT_MAX);
        (void)fclose(memory);
    }
    rows_print(dump, field->start, field->end, depth, "%s \"%s\"", name,
               text ? text : "");
    free(text);
}

static void double_print(const struct dump *dump,
                         const struct otelread_field *field, unsigned depth,
                         const char *name)
{
    char text[OTELBASE_DOUBLE_SIZE];
    double value;

    (void)memcpy(&value, &field->value, sizeof(value));
    otelbase_double_format(text, value);
    rows_print(dump, field->start, field->end, depth, "%s %s", name, text);
}

static void unknown_print(const struct dump *dump,
                          const struct otelread_field *field, unsigned depth,
                          const char *what)
{
    if (field->wire == OTELREAD_LENGTH)
        rows_print(dump, field->start, field->end, depth, "%s %u, %zu bytes",
                   what, field->number, field->end - field->body);
    else
        rows_print(dump, field->start, field->end, depth, "%s %u, %" PRIu64,
                   what, field->number, field->value);
}

static void leaf_print(const struct dump *dump,
                       const struct otelread_field *field, unsigned depth,
                       const struct otelread_schema_field *known)
{
    switch (known->form) {
    case OTELREAD_FORM_STRING:
        string_print(dump, field, depth, known->name);
        break;
    case OTELREAD_FORM_BOOL:
        rows_print(dump, field->start, field->end, depth, "%s %s", known->name,
                   field->value != 0 ? "true" : "false");
        break;
    case OTELREAD_FORM_INT:
        rows_print(dump, field->start, field->end, depth, "%s %" PRId64,
                   known->name, (int64_t)field->value);
        break;
    case OTELREAD_FORM_UINT:
        rows_print(dump, field->start, field->end, depth, "%s %u", known->name,
                   (uint32_t)field->value);
        break;
    case OTELREAD_FORM_DOUBLE:
        double_print(dump, field, depth, known->name);
        break;
    case OTELREAD_FORM_BYTES:
    case OTELREAD_FORM_MESSAGE: /* nested too deep to be entered */
    default:
        rows_print(dump, field->start, field->end, depth, "%s, %zu bytes",
                   known->name, field->end - field->body);
    }
}

static void message_print(const struct dump *dump, size_t start, size_t end,
                          const struct otelread_schema *schema, unsigned depth);

static void field_print(const struct dump *dump,
                        const struct otelread_field *field,
                        const struct otelread_schema *schema, unsigned depth)
{
    const struct otelread_schema_field *const known =
        otelread_schema_find(schema, field->number);

    if (!known) {
        unknown_print(dump, field, depth, "unknown field");
    } else if (field->wire != otelread_schema_wire(known->form)) {
        unknown_print(dump, field, depth, "wrong type of field");
    } else if (known->message && depth < DEPTH_MAX) {
        rows_print(dump, field->start, field->body, depth, "%s: %s, %zu bytes",
                   known->name, known->message->name, field->end - field->body);
        message_print(dump, field->body, field->end, known->message, depth + 1);
    } else {
        leaf_print(dump, field, depth, known);
    }
}

/* From a malformed field to the end of its message. */
static void rest_print(const struct dump *dump, size_t start, size_t end,
                       const struct otelread_field *field,
                       const struct otelread_schema *schema, unsigned depth)
{
    const struct otelread_schema_field *const known =
        otelread_schema_find(schema, field->number);

    if (!known || !known->message || field->body == 0 ||
        field->wire != OTELREAD_LENGTH || depth >= DEPTH_MAX) {
        rows_print(dump, start, end, depth, "(not decoded)");
        return;
    }
    rows_print(dump, start, field->body, depth, "%s: %s, cut off after %zu",
               known->name, known->message->name, end - field->body);
    if (field->body < end)
        message_print(dump, field->body, end, known->message, depth + 1);
}

static void message_print(const struct dump *dump, size_t start, size_t end,
                          const struct otelread_schema *schema, unsigned depth)
{
    struct otelread_fault broken = {.offset = 0};
    struct otelread_cursor cursor = {
        .payload = dump->bytes, .at = start, .end = end, .fault = &broken};
    struct otelread_field field;
    size_t done = start;

    while (otelread_cursor_next(&cursor, &field)) {
        field_print(dump, &field, schema, depth);
        done = field.end;
    }
    if (done < end)
        rest_print(dump, done, end, &field, schema, depth);
}

static void payload_print(FILE *out, const struct otelread_context *context)
{
    const struct otelread_fault *const fault = &context->fault;
    const struct dump dump = {out, context->payload, fault};
    const size_t size = context->header.payload_size;

    (void)fprintf(out, "  payload at 0x%" PRIx64 ", %zu bytes\n",
                  context->header.payload, size);
    if (context->layout == OTELREAD_LAYOUT_FIRST)
        rows_print(&dump, 0, size, 0, "a MessagePack map");
    else
        message_print(&dump, 0, size,
                      context->bare ? &otelread_schema_resource
                                    : &otelread_schema_context,
                      0);
    if (otelread_fault_found(fault) && fault->offset >= size)
        (void)fprintf(out, "    %04zx  ^^ byte %zu, the end: %s\n", size,
                      fault->offset, fault->why);
}

void otelread_raw_print(FILE *out, const struct otelread_report *report)
{
    if (report->contexts.count == 0)
        return;

    otelread_title_print(out, report);
    for (size_t i = 0; i < report->contexts.count; i++) {
        const struct otelread_context *const context =
            &report->contexts.list[i];

        otelread_mapping_print(out, &context->mapping);
        if (context->has_header)
            header_print(out, context);
        if (context->payload)
            payload_print(out, context);
        if (context->status != OTELREAD_OK)
            (void)fprintf(out, "  %s: %s\n",
                          otelread_status_name(context->status),
                          context->message);
    }
    if (report->contexts.unread > 0)
        (void)fprintf(out, "  and %zu contexts more\n",
                      report->contexts.unread);
}
