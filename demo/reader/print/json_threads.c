/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json_threads.h"

#include "demo/base/json_writer.h"
#include "demo/reader/elf/symbol.h"
#include "demo/reader/print/json_attributes.h"
#include "demo/reader/report/threads.h"

#include <inttypes.h>

static void slot_print(struct otelbase_json *json,
                       const struct otelctx_ring_slot *slot)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (owner != 0) {
        otelbase_json_key(json, "owner");
        otelbase_json_literal(json, "%u", owner);
    }
    otelbase_json_key(json, "trace_id");
    otelbase_json_quoted(json, "%016" PRIx64 "%016" PRIx64, slot->trace_id_high,
                         slot->trace_id_low);
    otelbase_json_key(json, "span_id");
    otelbase_json_quoted(json, "%016" PRIx64, slot->span_id);
}

static void leftovers_print(struct otelbase_json *json,
                            const struct otelread_ring *ring)
{
    otelbase_json_key(json, "ended");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < ring->leftovers_count; i++) {
        otelbase_json_open(json, '{');
        otelbase_json_key(json, "slot");
        otelbase_json_literal(json, "%u", ring->leftovers[i].index);
        slot_print(json, &ring->leftovers[i].slot);
        otelbase_json_close(json, '}');
    }
    otelbase_json_close(json, ']');
}

/* The member "ring" of a process, if it has one. */
static void process_ring_print(struct otelbase_json *json,
                               const struct otelread_ring *ring)
{
    if (ring->status == OTELREAD_RING_NONE)
        return;
    otelbase_json_key(json, "ring");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_ring_status_name(ring->status));
    if (ring->message[0] != '\0') {
        otelbase_json_key(json, "message");
        otelbase_json_text(json, ring->message);
    }
    otelbase_json_key(json, "start");
    otelbase_json_quoted(json, "0x%" PRIx64, ring->start);
    otelbase_json_key(json, "end");
    otelbase_json_quoted(json, "0x%" PRIx64, ring->end);
    otelbase_json_key(json, "named");
    otelbase_json_literal(json, ring->named ? "true" : "false");
    otelbase_json_key(json, "capacity");
    otelbase_json_literal(json, "%u", ring->header.capacity);
    leftovers_print(json, ring);
    otelbase_json_close(json, '}');
}

static void thread_ring_print(struct otelbase_json *json,
                              const struct otelread_storages *storages)
{
    const enum otelread_slot_status status = storages->ring_status;

    otelbase_json_key(json, "ring");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(json, otelread_slot_status_name(status));
    otelbase_json_key(json, "slot");
    otelbase_json_literal(json, "%u", storages->ring_index);
    if (status == OTELREAD_SLOT_ATTACHED || status == OTELREAD_SLOT_COLLISION ||
        status == OTELREAD_SLOT_STALE)
        slot_print(json, &storages->ring);
    otelbase_json_close(json, '}');
}

static void profiler_print(struct otelbase_json *json,
                           const struct otelread_storages *storages)
{
    const struct otelctx_profiler_context *const context = &storages->profiler;

    otelbase_json_key(json, "profiler");
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "status");
    otelbase_json_text(
        json, otelread_profiled_status_name(storages->profiler_status));
    if (storages->profiler_status == OTELREAD_PROFILED_ATTACHED) {
        otelbase_json_key(json, "root_span_id");
        otelbase_json_quoted(json, "%016" PRIx64, context->root_span_id);
        otelbase_json_key(json, "span_id");
        otelbase_json_quoted(json, "%016" PRIx64, context->span_id);
        otelbase_json_key(json, "tags");
        otelbase_json_open(json, '[');
        for (size_t i = 0; i < OTELCTX_PROFILER_TAGS; i++)
            otelbase_json_literal(json, "%u", context->tags[i]);
        otelbase_json_close(json, ']');
    }
    otelbase_json_close(json, '}');
}

/* The members of a thread for what it has besides its TLS. */
static void storages_print(struct otelbase_json *json,
                           const struct otelread_storages *storages)
{
    if (storages->ring_status != OTELREAD_SLOT_NONE)
        thread_ring_print(json, storages);
    if (storages->profiler_status != OTELREAD_PROFILED_NONE)
        profiler_print(json, storages);
    if (storages->disagreement[0] != '\0') {
        otelbase_json_key(json, "disagreement");
        otelbase_json_text(json, storages->disagreement);
    }
}

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
    storages_print(json, &thread->storages);
    otelbase_json_close(json, '}');
}

void otelread_json_threads_print(struct otelbase_json *json,
                                 const struct otelread_threads *threads)
{
    thread_context_print(json, threads);
    process_ring_print(json, &threads->ring);
    otelbase_json_key(json, "threads");
    otelbase_json_open(json, '[');
    for (size_t i = 0; i < threads->sample.count; i++)
        thread_print(json, &threads->sample.threads[i]);
    otelbase_json_close(json, ']');
}
