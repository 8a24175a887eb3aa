/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/text.h"

#include "demo/base/escape.h"
#include "demo/reader/print/heading.h"
#include "demo/reader/print/text_attributes.h"
#include "demo/reader/print/text_threads.h"

#include <inttypes.h>

#define SECOND_NS 1000000000U

static void attributes_print(FILE *out, const char *title,
                             const struct otelread_list *list)
{
    (void)fprintf(out, "  %s\n", title);
    if (list->count == 0)
        (void)fputs("    (none)\n", out);
    otelread_text_attributes_print(out, list, 4);
}

static void span_print(FILE *out, struct otelread_span text)
{
    otelbase_escape_print(out, text.bytes, text.size);
}

static void keys_print(FILE *out, const char *what,
                       const struct otelread_list *keys)
{
    for (const struct otelread_node *node = keys->first; node;
         node = node->next) {
        (void)fputs(node == keys->first ? what : ", ", out);
        span_print(out, node->span);
    }
}

/* What the attributes of the resource are about. */
static void entities_print(FILE *out, const struct otelread_decoded *decoded)
{
    if (decoded->entities_count > 0)
        (void)fputs("  entities\n", out);
    for (size_t i = 0; i < decoded->entities_count; i++) {
        const struct otelread_entity *const entity = &decoded->entities[i];

        (void)fputs("    ", out);
        span_print(out, entity->type);
        keys_print(out, "  id ", &entity->id_keys);
        keys_print(out, "  description ", &entity->description_keys);
        if (entity->schema_url.size > 0)
            (void)fputs("  schema ", out);
        span_print(out, entity->schema_url);
        (void)fputc('\n', out);
    }
}

/* The two largest units that are not 0. */
static void age_print(FILE *out, uint64_t age_ns)
{
    const uint64_t s = age_ns / SECOND_NS;

    if (s == 0)
        (void)fprintf(out, "%" PRIu64 " ms", age_ns / 1000000);
    else if (s < 60)
        (void)fprintf(out, "%" PRIu64 " s", s);
    else if (s < 3600)
        (void)fprintf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else if (s < 86400)
        (void)fprintf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
                      s / 60 % 60);
    else
        (void)fprintf(out, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
                      s / 3600 % 24);
}

/* In the future when the publisher does not use the clock of the OTEP. */
static void published_print(FILE *out, const struct otelread_context *context)
{
    const uint64_t then = context->header.published_at_ns;
    const uint64_t now = context->read_at_ns;

    if (context->layout == OTELREAD_LAYOUT_FIRST)
        return; /* nobody knows */
    (void)fputs("  published  ", out);
    age_print(out, then > now ? then - now : now - then);
    (void)fprintf(out, "%s (%s %" PRIu64 " ns)\n",
                  then > now ? " ahead of this clock" : " ago",
                  otelread_layout_is_realtime(then) ? "realtime" : "boottime",
                  then);
}

/* An older one, that readers of the accepted OTEP do not take. */
static void form_print(FILE *out, const struct otelread_context *context)
{
    if (context->layout != OTELREAD_LAYOUT_ACCEPTED)
        (void)fprintf(out, "  form       %s%s\n",
                      otelread_layout_name(context->layout),
                      context->bare ? ", a Resource alone" : "");
}

static void context_print(FILE *out, const struct otelread_context *context)
{
    const struct otelread_decoded *const decoded = &context->decoded;

    otelread_mapping_print(out, &context->mapping);
    if (context->status != OTELREAD_OK) {
        (void)fprintf(out, "  %s: %s\n", otelread_status_name(context->status),
                      context->message);
        return;
    }
    (void)fprintf(
        out, "  header     version %u, payload %u bytes at 0x%" PRIx64 "\n",
        context->header.version, context->header.payload_size,
        context->header.payload);
    form_print(out, context);
    published_print(out, context);
    attributes_print(out, "resource", &decoded->resource);
    if (decoded->resource_dropped > 0)
        (void)fprintf(out, "    (%u more dropped by the publisher)\n",
                      decoded->resource_dropped);
    entities_print(out, decoded);
    attributes_print(out, "extra attributes", &decoded->extra);
}

void otelread_text_print(FILE *out, const struct otelread_report *report)
{
    const struct otelread_threads *const threads = report->threads;

    if (report->status != OTELREAD_OK && report->status != OTELREAD_SEVERAL &&
        (!threads || !otelread_threads_have_storage(threads)))
        return;

    otelread_title_print(out, report);
    for (size_t i = 0; i < report->contexts.count && !report->only_threads; i++)
        context_print(out, &report->contexts.list[i]);
    if (report->contexts.unread > 0 && !report->only_threads)
        (void)fprintf(out, "  and %zu contexts more\n",
                      report->contexts.unread);
    if (threads)
        otelread_text_threads_print(out, threads, report->only_threads);
}
