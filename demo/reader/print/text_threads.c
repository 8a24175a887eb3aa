/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/text_threads.h"

#include "demo/base/escape.h"
#include "demo/reader/elf/symbol.h"
#include "demo/reader/print/text_attributes.h"
#include "demo/reader/report/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The ring of a process, if it has one. */
static void process_ring_print(FILE *out, const struct otelread_ring *ring)
{
    if (ring->status == OTELREAD_RING_NONE)
        return;
    (void)fprintf(out, "  ring       %" PRIx64 "-%" PRIx64 "%s, ", ring->start,
                  ring->end,
                  ring->named ? " [anon:" OTELCTX_RING_NAME "]" : "");
    if (ring->status == OTELREAD_RING_OK)
        (void)fprintf(out, "%u slots\n", ring->header.capacity);
    else
        (void)fprintf(out, "%s\n", otelread_ring_status_name(ring->status));
    if (ring->message[0] != '\0')
        (void)fprintf(out, "      (%s)\n", ring->message);
}

static void slot_print(FILE *out, const struct otelctx_ring_slot *slot)
{
    (void)fprintf(out, "  trace %016" PRIx64 "%016" PRIx64 " span %016" PRIx64,
                  slot->trace_id_high, slot->trace_id_low, slot->span_id);
}

/* Its number as the process sees it; 0 is not known. */
static void owner_print(FILE *out, const struct otelctx_ring_slot *slot)
{
    const uint32_t owner = otelctx_ring_thread(slot->lock);

    if (owner != 0)
        (void)fprintf(out, "  of thread %u", owner);
}

/* The slots whose threads have ended. */
static void leftovers_print(FILE *out, const struct otelread_ring *ring)
{
    if (ring->leftovers_count > 0)
        (void)fputs("  ring slots of threads that have ended\n", out);
    for (size_t i = 0; i < ring->leftovers_count; i++) {
        const struct otelread_leftover *const leftover = &ring->leftovers[i];

        (void)fprintf(out, "    slot %u", leftover->index);
        owner_print(out, &leftover->slot);
        slot_print(out, &leftover->slot);
        (void)fputc('\n', out);
    }
    if (ring->more_leftovers)
        (void)fputs("    and more\n", out);
}

static void thread_ring_print(FILE *out,
                              const struct otelread_storages *storages)
{
    const enum otelread_slot_status status = storages->ring_status;

    if (status == OTELREAD_SLOT_NONE || status == OTELREAD_SLOT_DETACHED)
        return;
    (void)fprintf(out, "      ring      %s", otelread_slot_status_name(status));
    if (status == OTELREAD_SLOT_COLLISION || status == OTELREAD_SLOT_STALE)
        owner_print(out, &storages->ring);
    if (status != OTELREAD_SLOT_BUSY && status != OTELREAD_SLOT_UNREADABLE)
        slot_print(out, &storages->ring);
    (void)fputc('\n', out);
}

static void profiler_print(FILE *out, const struct otelread_storages *storages)
{
    const struct otelctx_profiler_context *const context = &storages->profiler;
    const enum otelread_profiled_status status = storages->profiler_status;

    if (status != OTELREAD_PROFILED_ATTACHED &&
        status != OTELREAD_PROFILED_TORN &&
        status != OTELREAD_PROFILED_UNREADABLE)
        return;
    (void)fprintf(out, "      profiler  %s",
                  otelread_profiled_status_name(status));
    if (status == OTELREAD_PROFILED_ATTACHED) {
        (void)fprintf(out, "  root %016" PRIx64 " span %016" PRIx64 " tags",
                      context->root_span_id, context->span_id);
        for (size_t i = 0; i < OTELCTX_PROFILER_TAGS; i++)
            (void)fprintf(out, " %u", context->tags[i]);
    }
    (void)fputc('\n', out);
}

/* What a thread has besides its TLS, and whether that disagrees. */
static void storages_print(FILE *out, const struct otelread_thread *thread)
{
    const struct otelread_storages *const storages = &thread->storages;

    thread_ring_print(out, storages);
    profiler_print(out, storages);
    if (storages->disagreement[0] != '\0')
        (void)fprintf(out, "      (storages disagree: %s)\n",
                      storages->disagreement);
}

/* How wide the first columns are. */
struct widths {
    int tid;
    size_t name;
};

static struct widths measure(const struct otelread_threads *threads)
{
    struct widths widths = {.tid = 1};

    for (size_t i = 0; i < threads->sample.count; i++) {
        const struct otelread_thread *const thread =
            &threads->sample.threads[i];
        const char *const name = thread->stat.command;
        const size_t width = otelbase_escape_width(name, strlen(name));
        const int digits = snprintf(NULL, 0, "%d", (int)thread->tid);

        widths.tid = digits > widths.tid ? digits : widths.tid;
        widths.name = width > widths.name ? width : widths.name;
    }
    return widths;
}

static void hex_print(FILE *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        (void)fprintf(out, "%02x", bytes[i]);
}

static void ids_print(FILE *out, const struct otelctx_record_head *head)
{
    (void)fputs("  trace ", out);
    hex_print(out, head->trace_id, sizeof(head->trace_id));
    (void)fputs(" span ", out);
    hex_print(out, head->span_id, sizeof(head->span_id));
    (void)fprintf(out, " flags %02x", head->trace_flags);
}

static void message_print(FILE *out, unsigned indent, const char *text)
{
    (void)fprintf(out, "%*s(%s)\n", (int)indent, "", text);
}

static void thread_print(FILE *out, const struct otelread_thread *thread,
                         struct widths widths)
{
    const char *const name = thread->stat.command;
    const bool attached = otelread_thread_is_attached(thread);

    (void)fprintf(out, "    %*d  ", widths.tid, (int)thread->tid);
    otelbase_escape_print(out, name, strlen(name));
    for (size_t at = otelbase_escape_width(name, strlen(name));
         at < widths.name; at++)
        (void)fputc(' ', out);
    (void)fprintf(out, "  %c  %s",
                  thread->stat.state != '\0' ? thread->stat.state : '?',
                  otelread_thread_status_name(thread->status));
    if (attached)
        ids_print(out, &thread->record.head);
    if (thread->stopped)
        (void)fprintf(out, "  stopped at most %" PRIu64 " us",
                      thread->stopped_ns / 1000 + 1);
    (void)fputc('\n', out);
    if (thread->message[0] != '\0')
        message_print(out, 6, thread->message);
    if (attached)
        otelread_text_attributes_print(out, &thread->meaning.attributes, 6);
    storages_print(out, thread);
}

static void symbol_print(FILE *out, const char *title,
                         const struct otelread_symbol *symbol)
{
    (void)fprintf(out, "  %-9s  %s, ", title,
                  otelread_access_name(symbol->access));
    if (otelread_access_is_static(symbol->access))
        (void)fputs("thread pointer", out);
    else
        (void)fprintf(out, "module %" PRIu64, symbol->module);
    (void)fprintf(out, " %+" PRId64 ", in ", symbol->offset);
    otelbase_escape_print(out, symbol->object, strlen(symbol->object));
    (void)fputc('\n', out);
}

/* Where the threads keep contexts. A profiler's variable may be unused. */
static void places_print(FILE *out, const struct otelread_threads *threads)
{
    bool profiled = false;

    for (size_t i = 0; i < threads->sample.count; i++)
        profiled =
            profiled || threads->sample.threads[i].storages.profiler_status ==
                            OTELREAD_PROFILED_ATTACHED;
    if (threads->has_symbol)
        symbol_print(out, "symbol", &threads->search.tls.symbol);
    if (profiled)
        symbol_print(out, "profiler", &threads->search.profiler.symbol);
    process_ring_print(out, &threads->ring);
}

void otelread_text_threads_print(FILE *out,
                                 const struct otelread_threads *threads,
                                 bool only_threads)
{
    const struct widths widths = measure(threads);

    if (!only_threads)
        places_print(out, threads);
    (void)fputs("  threads\n", out);
    if (threads->status != OTELREAD_THREADS_OK) {
        (void)fprintf(out, "    %s\n",
                      otelread_threads_status_name(threads->status));
        message_print(out, 6, threads->message);
    } else if (threads->manner == OTELREAD_AS_IT_RUNS && !only_threads) {
        message_print(out, 4,
                      "not stopped while they were read: parts may be of "
                      "different moments");
    }
    for (size_t i = 0; i < threads->sample.count; i++)
        thread_print(out, &threads->sample.threads[i], widths);
    if (!only_threads)
        leftovers_print(out, &threads->ring);
}
