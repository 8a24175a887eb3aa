/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print.h"
#include "demo/reader/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* U+FFFD, in place of a byte that is not UTF-8. */
#define REPLACEMENT "\\ufffd"

static void value_print(FILE *out, const struct otelread_node *node);

/*
 * JSON allows most of these as they are, a terminal does not: controls, line
 * separators, what reorders text.
 */
static bool is_escaped(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void otelread_json_string_print(FILE *out, const void *text, size_t size)
{
    const uint8_t *const bytes = text;

    (void)fputc('"', out);
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        const size_t length = otelread_utf8_next(bytes + at, size - at, &code);

        if (length == 0)
            (void)fputs(REPLACEMENT, out);
        else if (code == '"' || code == '\\')
            (void)fprintf(out, "\\%c", (int)code);
        else if (is_escaped(code))
            (void)fprintf(out, "\\u%04x", (unsigned)code);
        else
            (void)fwrite(bytes + at, 1, length, out);
        at += length > 0 ? length : 1;
    }
    (void)fputc('"', out);
}

/* RFC 4648, section 4, as proto3 JSON writes bytes. */
static void base64_print(FILE *out, struct otelread_span span)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t at = 0; at < span.size; at += 3) {
        const size_t left = span.size - at;
        const uint32_t group =
            (uint32_t)span.bytes[at] << 16 |
            (left > 1 ? (uint32_t)span.bytes[at + 1] << 8 : 0) |
            (left > 2 ? span.bytes[at + 2] : 0);

        (void)fputc(digits[group >> 18], out);
        (void)fputc(digits[group >> 12 & 63], out);
        (void)fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? digits[group & 63] : '=', out);
    }
}

static void double_print(FILE *out, double value)
{
    char text[OTELREAD_DOUBLE_SIZE];

    if (isnan(value)) {
        (void)fputs("\"NaN\"", out);
    } else if (isinf(value)) {
        (void)fputs(value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
    } else {
        otelread_double_format(text, value);
        (void)fputs(text, out);
    }
}

static void array_print(FILE *out, const struct otelread_list *list)
{
    for (const struct otelread_node *item = list->first; item != NULL;
         item = item->next) {
        value_print(out, item);
        if (item->next != NULL)
            (void)fputc(',', out);
    }
}

static void member_print(FILE *out, const struct otelread_node *node)
{
    switch (node->kind) {
    case OTELREAD_STRING:
        (void)fputs("\"stringValue\":", out);
        otelread_json_string_print(out, node->span.bytes, node->span.size);
        break;
    case OTELREAD_BOOL:
        (void)fprintf(out, "\"boolValue\":%s", node->truth ? "true" : "false");
        break;
    case OTELREAD_INT:
        (void)fprintf(out, "\"intValue\":\"%" PRId64 "\"", node->integer);
        break;
    case OTELREAD_DOUBLE:
        (void)fputs("\"doubleValue\":", out);
        double_print(out, node->real);
        break;
    case OTELREAD_ARRAY:
        (void)fputs("\"arrayValue\":{\"values\":[", out);
        array_print(out, &node->list);
        (void)fputs("]}", out);
        break;
    case OTELREAD_KVLIST:
        (void)fputs("\"kvlistValue\":{\"values\":", out);
        otelread_json_attributes_print(out, &node->list);
        (void)fputc('}', out);
        break;
    case OTELREAD_BYTES:
        (void)fputs("\"bytesValue\":\"", out);
        base64_print(out, node->span);
        (void)fputc('"', out);
        break;
    case OTELREAD_EMPTY:
    default:
        break;
    }
}

static void value_print(FILE *out, const struct otelread_node *node)
{
    (void)fputc('{', out);
    member_print(out, node);
    (void)fputc('}', out);
}

void otelread_json_attributes_print(FILE *out, const struct otelread_list *list)
{
    (void)fputc('[', out);
    for (const struct otelread_node *node = list->first; node != NULL;
         node = node->next) {
        (void)fputs("{\"key\":", out);
        otelread_json_string_print(out, node->key.bytes, node->key.size);
        (void)fputs(",\"value\":", out);
        value_print(out, node);
        (void)fputs(node->next != NULL ? "}," : "}", out);
    }
    (void)fputc(']', out);
}

static void mapping_print(FILE *out, const struct otelread_mapping *mapping)
{
    (void)fprintf(out,
                  "\"mapping\":{\"start\":\"0x%" PRIx64
                  "\",\"end\":\"0x%" PRIx64
                  "\",\"permissions\":\"%s\",\"name\":",
                  mapping->start, mapping->end, mapping->permissions);
    otelread_json_string_print(out, mapping->name, strlen(mapping->name));
    (void)fputc('}', out);
}

/* Negative when the publisher's clock is ahead. */
static void age_print(FILE *out, uint64_t then, uint64_t now)
{
    (void)fprintf(out, "\"age_ns\":\"%s%" PRIu64 "\"", then > now ? "-" : "",
                  then > now ? then - now : now - then);
}

static void context_print(FILE *out, const struct otelread_context *context)
{
    const struct otelctx_header *const header = &context->header;

    (void)fputc('{', out);
    mapping_print(out, &context->mapping);
    (void)fprintf(out,
                  ",\"header\":{\"version\":%u,\"payload_size\":%u,"
                  "\"published_at_ns\":\"%" PRIu64 "\",\"payload\":\"0x%" PRIx64
                  "\"},",
                  header->version, header->payload_size,
                  header->published_at_ns, header->payload);
    age_print(out, header->published_at_ns, context->read_at_ns);
    (void)fputs(",\"resource\":{\"attributes\":", out);
    otelread_json_attributes_print(out, &context->decoded.resource);
    (void)fprintf(out,
                  ",\"dropped_attributes_count\":%u},\"extra_attributes\":",
                  context->decoded.resource_dropped);
    otelread_json_attributes_print(out, &context->decoded.extra);
    (void)fputc('}', out);
}

void otelread_json_print(FILE *out, const struct otelread_report *report)
{
    bool first = true;

    (void)fprintf(out, "{\"pid\":%d,\"command\":", (int)report->target.pid);
    otelread_json_string_print(out, report->target.command,
                               strlen(report->target.command));
    (void)fprintf(out, ",\"status\":\"%s\"",
                  otelread_status_name(report->status));
    if (report->status != OTELREAD_OK) {
        (void)fputs(",\"message\":", out);
        otelread_json_string_print(out, report->message,
                                   strlen(report->message));
    }
    (void)fputs(",\"contexts\":[", out);
    for (size_t i = 0; i < report->count; i++) {
        if (report->contexts[i].status != OTELREAD_OK)
            continue;
        if (!first)
            (void)fputc(',', out);
        context_print(out, &report->contexts[i]);
        first = false;
    }
    (void)fputc(']', out);
    otelread_json_threads_print(out, report);
    (void)fputs("}\n", out);
}
