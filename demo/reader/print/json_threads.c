/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_threads.h"

#include "demo/reader/elf/symbol.h"
#include "demo/reader/print/json_attributes.h"
#include "demo/reader/print/json_storages.h"

#include <inttypes.h>

/* A key's index is its position: an element that is no string has one, too. */
static void keys_print(struct otelread_json *json,
                       const struct otelread_keymap *map)
{
    otelread_json_key(json, "keys");
    otelread_json_open(json, '[');
    for (size_t i = 0; i < map->count; i++) {
        if (!map->keys[i].bytes)
            otelread_json_literal(json, "null");
        else
            otelread_json_string(json, map->keys[i].bytes, map->keys[i].size);
    }
    otelread_json_close(json, ']');
}

static void symbol_print(struct otelread_json *json, const char *name,
                         const struct otelread_symbol *symbol)
{
    otelread_json_key(json, name);
    otelread_json_open(json, '{');
    otelread_json_key(json, "object");
    otelread_json_text(json, symbol->object);
    otelread_json_key(json, "access");
    otelread_json_text(json, otelread_access_name(symbol->access));
    if (!otelread_access_is_static(symbol->access)) {
        otelread_json_key(json, "module");
        otelread_json_quoted(json, "%" PRIu64, symbol->module);
    }
    otelread_json_key(json, "offset");
    otelread_json_quoted(json, "%" PRId64, symbol->offset);
    otelread_json_close(json, '}');
}

static void thread_context_print(struct otelread_json *json,
                                 const struct otelread_threads *threads)
{
    const struct otelread_keymap *const map = &threads->map;

    otelread_json_key(json, "thread_context");
    otelread_json_open(json, '{');
    otelread_json_key(json, "status");
    otelread_json_text(json, otelread_threads_status_name(threads->status));
    if (threads->status != OTELREAD_THREADS_OK) {
        otelread_json_key(json, "message");
        otelread_json_text(json, threads->message);
    }
    if (map->schema.bytes) {
        otelread_json_key(json, "schema_version");
        otelread_json_string(json, map->schema.bytes, map->schema.size);
    }
    keys_print(json, map);
    if (threads->has_symbol)
        symbol_print(json, "symbol", &threads->search.tls.symbol);
    if (threads->has_profiler)
        symbol_print(json, "profiler", &threads->search.profiler.symbol);
    otelread_json_key(json, "stopped");
    otelread_json_literal(json, threads->manner == OTELREAD_STOPPED ? "true"
                                                                    : "false");
    otelread_json_close(json, '}');
}

static void record_print(struct otelread_json *json,
                         const struct otelread_thread *thread)
{
    const struct otelctx_record_head *const head = &thread->record.head;

    otelread_json_key(json, "trace_id");
    otelread_json_hex(json, head->trace_id, sizeof(head->trace_id));
    otelread_json_key(json, "span_id");
    otelread_json_hex(json, head->span_id, sizeof(head->span_id));
    otelread_json_key(json, "trace_flags");
    otelread_json_literal(json, "%u", head->trace_flags);
    otelread_json_key(json, "attributes");
    otelread_json_attributes_print(json, &thread->meaning.attributes);
}

static void thread_print(struct otelread_json *json,
                         const struct otelread_thread *thread)
{
    const char state[] = {thread->stat.state, '\0'};

    otelread_json_open(json, '{');
    otelread_json_key(json, "tid");
    otelread_json_literal(json, "%d", (int)thread->tid);
    otelread_json_key(json, "name");
    otelread_json_text(json, thread->stat.command);
    otelread_json_key(json, "state");
    otelread_json_text(json, state);
    otelread_json_key(json, "status");
    otelread_json_text(json, otelread_thread_status_name(thread->status));
    if (thread->has_record) {
        otelread_json_key(json, "record");
        otelread_json_quoted(json, "0x%" PRIx64, thread->record.address);
    }
    if (otelread_thread_is_attached(thread))
        record_print(json, thread);
    if (thread->stopped) {
        otelread_json_key(json, "stopped_ns");
        otelread_json_quoted(json, "%" PRIu64, thread->stopped_ns);
    }
    if (thread->message[0] != '\0') {
        otelread_json_key(json, "message");
        otelread_json_text(json, thread->message);
    }
    otelread_json_storages_print(json, &thread->storages);
    otelread_json_close(json, '}');
}

void otelread_json_threads_print(struct otelread_json *json,
                                 const struct otelread_threads *threads)
{
    thread_context_print(json, threads);
    otelread_json_ring_print(json, &threads->ring);
    otelread_json_key(json, "threads");
    otelread_json_open(json, '[');
    for (size_t i = 0; i < threads->sample.count; i++)
        thread_print(json, &threads->sample.threads[i]);
    otelread_json_close(json, ']');
}
