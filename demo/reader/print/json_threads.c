/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_threads.h"

#include "demo/reader/elf/symbol.h"
#include "demo/reader/print/json_attributes.h"
#include "demo/reader/print/json_storages.h"

#include <inttypes.h>

/* A key's index is its position: an element that is no string has one, too. */
static void keys_print(struct otelbase_json *json,
                       const struct otelread_keymap *map)
{
    otelbase_json_key(json, "keys");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < map->count; i++) {
        if (!map->keys[i].bytes)
            otelbase_json_literal(json, "null");
        else
            otelbase_json_string(json, map->keys[i].bytes, map->keys[i].size);
    }
    otelbase_json_close(json, ']');
}

static void symbol_print(struct otelbase_json *json, const char *name,
                         const struct otelread_symbol *symbol)
{
    otelbase_json_key(json, name);
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "object");
    otelbase_json_text(json, symbol->object);
    otelbase_json_key(json, "access");
    otelbase_json_text(json, otelread_access_name(symbol->access));
    if (!otelread_access_is_static(symbol->access)) {
        otelbase_json_key(json, "module");
        otelbase_json_quoted(json, "%" PRIu64, symbol->module);
    }
    otelbase_json_key(json, "offset");
    otelbase_json_quoted(json, "%" PRId64, symbol->offset);
    otelbase_json_close(json, '}');
}

static void thread_context_print(struct otelbase_json *json,
                                 const struct otelread_threads *threads)
{
    const struct otelread_keymap *const map = &threads->map;

    otelbase_json_key(json, "thread_context");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_threads_status_name(threads->status));
    if (threads->status != OTELREAD_THREADS_OK) {
        otelbase_json_key(json, "message");
        otelbase_json_text(json, threads->message);
    }
    if (map->schema.bytes) {
        otelbase_json_key(json, "schema_version");
        otelbase_json_string(json, map->schema.bytes, map->schema.size);
    }
    keys_print(json, map);
    if (threads->has_symbol)
        symbol_print(json, "symbol", &threads->search.tls.symbol);
    if (threads->has_profiler)
        symbol_print(json, "profiler", &threads->search.profiler.symbol);
    otelbase_json_key(json, "stopped");
    otelbase_json_literal(json, threads->manner == OTELREAD_STOPPED ? "true"
                                                                    : "false");
    otelbase_json_close(json, '}');
}

static void record_print(struct otelbase_json *json,
                         const struct otelread_thread *thread)
{
    const struct otelctx_record_head *const head = &thread->record.head;

    otelbase_json_key(json, "trace_id");
    otelbase_json_hex(json, head->trace_id, sizeof(head->trace_id));
    otelbase_json_key(json, "span_id");
    otelbase_json_hex(json, head->span_id, sizeof(head->span_id));
    otelbase_json_key(json, "trace_flags");
    otelbase_json_literal(json, "%u", head->trace_flags);
    otelbase_json_key(json, "attributes");
    otelread_json_attributes_print(json, &thread->meaning.attributes);
}

static void thread_print(struct otelbase_json *json,
                         const struct otelread_thread *thread)
{
    const char state[] = {thread->stat.state, '\0'};

    otelbase_json_open(json, '{');
    otelbase_json_key(json, "tid");
    otelbase_json_literal(json, "%d", (int)thread->tid);
    otelbase_json_key(json, "name");
    otelbase_json_text(json, thread->stat.command);
    otelbase_json_key(json, "state");
    otelbase_json_text(json, state);
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_thread_status_name(thread->status));
    if (thread->has_record) {
        otelbase_json_key(json, "record");
        otelbase_json_quoted(json, "0x%" PRIx64, thread->record.address);
    }
    if (otelread_thread_is_attached(thread))
        record_print(json, thread);
    if (thread->stopped) {
        otelbase_json_key(json, "stopped_ns");
        otelbase_json_quoted(json, "%" PRIu64, thread->stopped_ns);
    }
    if (thread->message[0] != '\0') {
        otelbase_json_key(json, "message");
        otelbase_json_text(json, thread->message);
    }
    otelread_json_storages_print(json, &thread->storages);
    otelbase_json_close(json, '}');
}

void otelread_json_threads_print(struct otelbase_json *json,
                                 const struct otelread_threads *threads)
{
    thread_context_print(json, threads);
    otelread_json_ring_print(json, &threads->ring);
    otelbase_json_key(json, "threads");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < threads->sample.count; i++)
        thread_print(json, &threads->sample.threads[i]);
    otelbase_json_close(json, ']');
}
