/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json.h"

#include "demo/reader/print/json_attributes.h"
#include "demo/reader/print/json_threads.h"

#include <inttypes.h>

static void mapping_print(struct otelread_json *json,
                          const struct otelread_mapping *mapping)
{
    otelread_json_key(json, "mapping");
    otelread_json_open(json, '{');
    otelread_json_key(json, "start");
    otelread_json_quoted(json, "0x%" PRIx64, mapping->start);
    otelread_json_key(json, "end");
    otelread_json_quoted(json, "0x%" PRIx64, mapping->end);
    otelread_json_key(json, "permissions");
    otelread_json_text(json, mapping->permissions);
    otelread_json_key(json, "name");
    otelread_json_text(json, mapping->name);
    otelread_json_close(json, '}');
}

static void header_print(struct otelread_json *json,
                         const struct otelctx_header *header)
{
    otelread_json_key(json, "header");
    otelread_json_open(json, '{');
    otelread_json_key(json, "version");
    otelread_json_literal(json, "%u", header->version);
    otelread_json_key(json, "payload_size");
    otelread_json_literal(json, "%u", header->payload_size);
    otelread_json_key(json, "published_at_ns");
    otelread_json_quoted(json, "%" PRIu64, header->published_at_ns);
    otelread_json_key(json, "payload");
    otelread_json_quoted(json, "0x%" PRIx64, header->payload);
    otelread_json_close(json, '}');
}

/* Negative when the publisher's clock is ahead. */
static void age_print(struct otelread_json *json, uint64_t then, uint64_t now)
{
    otelread_json_key(json, "age_ns");
    otelread_json_quoted(json, "%s%" PRIu64, then > now ? "-" : "",
                         then > now ? then - now : now - then);
}

static void span_print(struct otelread_json *json, const char *key,
                       struct otelread_span text)
{
    otelread_json_key(json, key);
    otelread_json_string(json, text.bytes, text.size);
}

static void strings_print(struct otelread_json *json, const char *key,
                          const struct otelread_list *list)
{
    otelread_json_key(json, key);
    otelread_json_open(json, '[');
    for (const struct otelread_node *node = list->first; node;
         node = node->next)
        otelread_json_string(json, node->span.bytes, node->span.size);
    otelread_json_close(json, ']');
}

static void entities_print(struct otelread_json *json,
                           const struct otelread_decoded *decoded)
{
    otelread_json_key(json, "entity_refs");
    otelread_json_open(json, '[');
    for (size_t i = 0; i < decoded->entities_count; i++) {
        const struct otelread_entity *const entity = &decoded->entities[i];

        otelread_json_open(json, '{');
        if (entity->schema_url.size > 0)
            span_print(json, "schemaUrl", entity->schema_url);
        span_print(json, "type", entity->type);
        strings_print(json, "idKeys", &entity->id_keys);
        strings_print(json, "descriptionKeys", &entity->description_keys);
        otelread_json_close(json, '}');
    }
    otelread_json_close(json, ']');
}

static void resource_print(struct otelread_json *json,
                           const struct otelread_decoded *decoded)
{
    otelread_json_key(json, "resource");
    otelread_json_open(json, '{');
    otelread_json_key(json, "attributes");
    otelread_json_attributes_print(json, &decoded->resource);
    otelread_json_key(json, "dropped_attributes_count");
    otelread_json_literal(json, "%u", decoded->resource_dropped);
    if (decoded->entities_count > 0)
        entities_print(json, decoded);
    otelread_json_close(json, '}');
}

static void context_print(struct otelread_json *json,
                          const struct otelread_context *context)
{
    otelread_json_open(json, '{');
    mapping_print(json, &context->mapping);
    otelread_json_key(json, "form");
    otelread_json_text(json, otelread_layout_name(context->layout));
    header_print(json, &context->header);
    if (context->layout != OTELREAD_LAYOUT_FIRST)
        age_print(json, context->header.published_at_ns, context->read_at_ns);
    resource_print(json, &context->decoded);
    otelread_json_key(json, "extra_attributes");
    otelread_json_attributes_print(json, &context->decoded.extra);
    otelread_json_close(json, '}');
}

/* Only those that could be decoded: the message tells of the others. */
static void contexts_print(struct otelread_json *json,
                           const struct otelread_report *report)
{
    otelread_json_key(json, "contexts");
    otelread_json_open(json, '[');
    for (size_t i = 0; i < report->contexts.count; i++) {
        if (report->contexts.list[i].status == OTELREAD_OK)
            context_print(json, &report->contexts.list[i]);
    }
    otelread_json_close(json, ']');
}

void otelread_json_print(FILE *out, const struct otelread_report *report)
{
    struct otelread_json json = {.out = out};

    otelread_json_open(&json, '{');
    otelread_json_key(&json, "pid");
    otelread_json_literal(&json, "%d", (int)report->target.pid);
    otelread_json_key(&json, "command");
    otelread_json_text(&json, report->target.command);
    otelread_json_key(&json, "status");
    otelread_json_text(&json, otelread_status_name(report->status));
    if (report->status != OTELREAD_OK) {
        otelread_json_key(&json, "message");
        otelread_json_text(&json, report->message);
    }
    contexts_print(&json, report);
    if (report->threads)
        otelread_json_threads_print(&json, report->threads);
    otelread_json_close(&json, '}');
    (void)fputc('\n', out);
}
