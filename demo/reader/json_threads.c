/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print.h"
#include "demo/reader/threads.h"

#include <inttypes.h>
#include <string.h>

static void text_print(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, ",\"%s\":", name);
    otelread_json_string_print(out, text, strlen(text));
}

static void hex_print(FILE *out, const char *name, const uint8_t *bytes,
                      size_t size)
{
    (void)fprintf(out, ",\"%s\":\"", name);
    for (size_t i = 0; i < size; i++)
        (void)fprintf(out, "%02x", bytes[i]);
    (void)fputc('"', out);
}

/* A key's index is its position, so what is no string has one, too. */
static void keys_print(FILE *out, const struct otelread_keymap *map)
{
    (void)fputs(",\"keys\":[", out);
    for (size_t i = 0; i < map->count; i++) {
        if (i > 0)
            (void)fputc(',', out);
        if (map->keys[i].bytes == NULL)
            (void)fputs("null", out);
        else
            otelread_json_string_print(out, map->keys[i].bytes,
                                       map->keys[i].size);
    }
    (void)fputc(']', out);
}

static void symbol_print(FILE *out, const struct otelread_symbol *symbol)
{
    (void)fputs(",\"symbol\":{\"object\":", out);
    otelread_json_string_print(out, symbol->object, strlen(symbol->object));
    (void)fprintf(out, ",\"access\":\"%s\"",
                  otelread_access_name(symbol->access));
    if (!otelread_access_is_static(symbol->access))
        (void)fprintf(out, ",\"module\":\"%" PRIu64 "\"", symbol->module);
    (void)fprintf(out, ",\"offset\":\"%" PRId64 "\"}", symbol->offset);
}

static void context_print(FILE *out, const struct otelread_threads *threads)
{
    const struct otelread_keymap *const map = &threads->map;

    (void)fprintf(out, ",\"thread_context\":{\"status\":\"%s\"",
                  otelread_threads_status_name(threads->status));
    if (threads->status != OTELREAD_THREADS_OK)
        text_print(out, "message", threads->message);
    if (map->schema.bytes != NULL) {
        (void)fputs(",\"schema_version\":", out);
        otelread_json_string_print(out, map->schema.bytes, map->schema.size);
    }
    keys_print(out, map);
    if (threads->has_symbol)
        symbol_print(out, &threads->symbol);
    (void)fprintf(out, ",\"stopped\":%s}", threads->stop ? "true" : "false");
}

static void record_print(FILE *out, const struct otelread_record *record,
                         const struct otelread_keymap *map)
{
    struct otelread_meaning meaning;

    otelread_record_decode(record, map, &meaning);
    hex_print(out, "trace_id", record->head.trace_id,
              sizeof(record->head.trace_id));
    hex_print(out, "span_id", record->head.span_id,
              sizeof(record->head.span_id));
    (void)fprintf(
        out, ",\"trace_flags\":%u,\"attributes\":", record->head.trace_flags);
    otelread_json_attributes_print(out, &meaning.attributes);
}

static void thread_print(FILE *out, const struct otelread_thread *thread,
                         const struct otelread_keymap *map)
{
    const char state[] = {thread->stat.state, '\0'};

    (void)fprintf(out, "{\"tid\":%d", (int)thread->tid);
    text_print(out, "name", thread->stat.command);
    text_print(out, "state", state);
    text_print(out, "status", otelread_thread_status_name(thread->status));
    if (thread->has_record)
        (void)fprintf(out, ",\"record\":\"0x%" PRIx64 "\"",
                      thread->record.address);
    if (otelread_thread_is_attached(thread))
        record_print(out, &thread->record, map);
    if (thread->stopped)
        (void)fprintf(out, ",\"stopped_ns\":\"%" PRIu64 "\"",
                      thread->stopped_ns);
    if (thread->message[0] != '\0')
        text_print(out, "message", thread->message);
    (void)fputc('}', out);
}

void otelread_json_threads_print(FILE *out,
                                 const struct otelread_report *report)
{
    const struct otelread_threads *const threads = report->threads;

    if (threads == NULL)
        return;
    context_print(out, threads);
    (void)fputs(",\"threads\":[", out);
    for (size_t i = 0; i < threads->count; i++) {
        if (i > 0)
            (void)fputc(',', out);
        thread_print(out, &threads->threads[i], &threads->map);
    }
    (void)fputc(']', out);
}
