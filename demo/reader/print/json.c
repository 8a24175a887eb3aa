/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json.h"

#include "demo/reader/print/json_attributes.h"
#include "demo/reader/print/json_threads.h"

#include <inttypes.h>

static void mapping_print(struct otelbase_json *json,
                          const struct otelread_mapping *mapping)
{
    otelbase_json_key(json, "mapping");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "start");
    otelbase_json_quoted(json, "0x%" PRIx64, mapping->start);
    otelbase_json_key(json, "end");
    otelbase_json_quoted(json, "0x%" PRIx64, mapping->end);
    otelbase_json_key(json, "permissions");
    otelbase_json_text(json, mapping->permissions);
    otelbase_json_key(json, "name");
    otelbase_json_text(json, mapping->name);
    otelbase_json_close(json, '}');
}

static void header_print(struct otelbase_json *json,
                         const struct otelctx_header *header)
{
    otelbase_json_key(json, "header");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "version");
    otelbase_json_literal(json, "%u", header->version);
    otelbase_json_key(json, "payload_size");
    otelbase_json_literal(json, "%u", header->payload_size);
    otelbase_json_key(json, "published_at_ns");
    otelbase_json_quoted(json, "%" PRIu64, header->published_at_ns);
    otelbase_json_key(json, "payload");
    otelbase_json_quoted(json, "0x%" PRIx64, header->payload);
    otelbase_json_close(json, '}');
}

/* Negative when the publisher's clock is ahead. */
static void age_print(struct otelbase_json *json, uint64_t then, uint64_t now)
{
    otelbase_json_key(json, "age_ns");
    otelbase_json_quoted(json, "%s%" PRIu64, then > now ? "-" : "",
                         then > now ? then - now : now - then);
}

static void span_print(struct otelbase_json *json, const char *key,
                       struct otelread_span text)
{
    otelbase_json_key(json, key);
    otelbase_json_string(json, text.bytes, text.size);
}

static void strings_print(struct otelbase_json *json, const char *key,
                          const struct otelread_list *list)
{
    otelbase_json_key(json, key);
    otelbase_json_open(json, '[');
    for (const struct otelread_node *node = list->first; node;
         node = node->next)
        otelbase_json_string(json, node->span.bytes, node->span.size);
    otelbase_json_close(json, ']');
}

static void entities_print(struct otelbase_json *json,
                           const struct otelread_decoded *decoded)
{
    otelbase_json_key(json, "entity_refs");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < decoded->entities_count; i++) {
        const struct otelread_entity *const entity = &decoded->entities[i];

        otelbase_json_open(json, '{');
        if (entity->schema_url.size > 0)
            span_print(json, "schemaUrl", entity->schema_url);
        span_print(json, "type", entity->type);
        strings_print(json, "idKeys", &entity->id_keys);
        strings_print(json, "descriptionKeys", &entity->description_keys);
        otelbase_json_close(json, '}');
    }
    otelbase_json_close(json, ']');
}

static void resource_print(struct otelbase_json *json,
                           const struct otelread_decoded *decoded)
{
    otelbase_json_key(json, "resource");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "attributes");
    otelread_json_attributes_print(json, &decoded->resource);
    otelbase_json_key(json, "dropped_attributes_count");
    otelbase_json_literal(json, "%u", decoded->resource_dropped);
    if (decoded->entities_count > 0)
        entities_print(json, decoded);
    otelbase_json_close(json, '}');
}

static void context_print(struct otelbase_json *json,
                          const struct otelread_context *context)
{
    otelbase_json_open(json, '{');
    mapping_print(json, &context->mapping);
    otelbase_json_key(json, "form");
    otelbase_json_text(json, otelread_layout_name(context->layout));
    header_print(json, &context->header);
    if (context->layout != OTELREAD_LAYOUT_FIRST)
        age_print(json, context->header.published_at_ns, context->read_at_ns);
    resource_print(json, &context->decoded);
    otelbase_json_key(json, "extra_attributes");
    otelread_json_attributes_print(json, &context->decoded.extra);
    otelbase_json_close(json, '}');
}

/* Only those that could be decoded: the message tells of the others. */
static void contexts_print(struct otelbase_json *json,
                           const struct otelread_report *report)
{
    otelbase_json_key(json, "contexts");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < report->contexts.count; i++) {
        if (report->contexts.list[i].status == OTELREAD_OK)
            context_print(json, &report->contexts.list[i]);
    }
    otelbase_json_close(json, ']');
}

void otelread_json_print(FILE *out, const struct otelread_report *report)
{
    struct otelbase_json json = {.out = out};

    otelbase_json_open(&json, '{');
    otelbase_json_key(&json, "pid");
    otelbase_json_literal(&json, "%d", (int)report->target.pid);
    otelbase_json_key(&json, "command");
    otelbase_json_text(&json, report->target.command);
    otelbase_json_key(&json, "status");
    otelbase_json_text(&json, otelread_status_name(report->status));
    if (report->status != OTELREAD_OK) {
        otelbase_json_key(&json, "message");
        otelbase_json_text(&json, report->message);
    }
    contexts_print(&json, report);
    if (report->threads)
        otelread_json_threads_print(&json, report->threads);
    otelbase_json_close(&json, '}');
    (void)fputc('\n', out);
}
