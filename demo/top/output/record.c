/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/record.h"

#include <inttypes.h>
#include <unistd.h>

static void number_member(struct otelbase_json *json, const char *key,
                          uint64_t value)
{
    otelbase_json_key(json, key);
    otelbase_json_literal(json, "%" PRIu64, value);
}

/* Leaves out a text that is not known. */
static void text_member(struct otelbase_json *json, const char *key,
                        const char *value)
{
    if (!value)
        return;
    otelbase_json_key(json, key);
    otelbase_json_text(json, value);
}

static void line_open(struct otelbase_json *json)
{
    json->comma = false;
    otelbase_json_open(json, '{');
}

static void line_close(struct otelbase_json *json)
{
    otelbase_json_close(json, '}');
    (void)putc('\n', json->out);
}

static void attributes(struct otelbase_json *json, const char *key,
                       const struct oteltop_attributes *list)
{
    otelbase_json_key(json, key);
    otelbase_json_open(json, '{');
    for (size_t i = 0; i < list->count; i++) {
        /* Of equal keys the last counts. */
        if (oteltop_attributes_find(list, list->list[i].key) !=
            list->list[i].value)
            continue;
        otelbase_json_name(json, list->list[i].key);
        otelbase_json_text(json, list->list[i].value);
    }
    otelbase_json_close(json, '}');
}

void oteltop_record_begin(struct oteltop_record *record, uint64_t unix_ns,
                          unsigned hz, bool wall)
{
    struct otelbase_json *const json = &record->json;
    char host[256] = "";

    (void)gethostname(host, sizeof(host) - 1);
    line_open(json);
    number_member(json, "recording", 1);
    text_member(json, "by", "otelctx-top " OTELCTX_VERSION);
    text_member(json, "host", host);
    otelbase_json_key(json, "start_ns");
    otelbase_json_quoted(json, "%" PRIu64, unix_ns);
    number_member(json, "hz", hz);
    otelbase_json_key(json, "wall");
    otelbase_json_literal(json, wall ? "true" : "false");
    number_member(json, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    line_close(json);
}

static void process_write(struct otelbase_json *json,
                          struct oteltop_process *process)
{
    if (process->is_recorded)
        return;
    process->is_recorded = true;
    line_open(json);
    number_member(json, "process", process->number);
    number_member(json, "pid", (uint64_t)process->pid);
    text_member(json, "command", process->command);
    text_member(json, "container", process->container);
    text_member(json, "pod", process->pod);
    text_member(json, "cgroup", process->cgroup);
    text_member(json, "context", process->context);
    if (process->resource.count > 0)
        attributes(json, "resource", &process->resource);
    line_close(json);
}

static void thread_write(struct otelbase_json *json,
                         struct oteltop_thread *thread)
{
    process_write(json, thread->process);
    if (thread->is_recorded)
        return;
    thread->is_recorded = true;
    line_open(json);
    number_member(json, "thread", thread->number);
    number_member(json, "process", thread->process->number);
    number_member(json, "tid", (uint64_t)thread->tid);
    text_member(json, "comm", thread->name);
    line_close(json);
}

static void span_write(struct otelbase_json *json, struct oteltop_span *span)
{
    if (span->is_recorded)
        return;
    span->is_recorded = true;
    line_open(json);
    number_member(json, "span", span->number);
    otelbase_json_key(json, "trace_id");
    otelbase_json_hex(json, span->trace_id, sizeof(span->trace_id));
    otelbase_json_key(json, "span_id");
    otelbase_json_hex(json, span->span_id, sizeof(span->span_id));
    number_member(json, "flags", span->flags);
    if (span->attributes.count > 0)
        attributes(json, "attributes", &span->attributes);
    line_close(json);
}

void oteltop_record_sample(struct oteltop_record *record,
                           const struct oteltop_sample *sample)
{
    struct otelbase_json *const json = &record->json;
    const char state[] = {sample->state, '\0'};

    thread_write(json, sample->thread);
    if (sample->span)
        span_write(json, sample->span);
    line_open(json);
    number_member(json, "t", sample->at_ns);
    number_member(json, "thread", sample->thread->number);
    if (sample->span)
        number_member(json, "span", sample->span->number);
    else
        text_member(json, "none", sample->none);
    text_member(json, "state", state);
    number_member(json, "cpu", sample->cpu_ns);
    number_member(json, "wall", sample->wall_ns);
    if (sample->is_untrusted) {
        otelbase_json_key(json, "untrusted");
        otelbase_json_literal(json, "true");
    }
    line_close(json);
}

void oteltop_record_gone(struct oteltop_record *record,
                         const struct oteltop_process *process, uint64_t at_ns)
{
    struct otelbase_json *const json = &record->json;

    if (!process->is_recorded)
        return;
    line_open(json);
    number_member(json, "gone", process->number);
    number_member(json, "t", at_ns);
    line_close(json);
}

void oteltop_record_rate(struct oteltop_record *record, unsigned hz,
                         uint64_t at_ns)
{
    struct otelbase_json *const json = &record->json;

    line_open(json);
    number_member(json, "t", at_ns);
    number_member(json, "hz", hz);
    line_close(json);
}

void oteltop_record_end(struct oteltop_record *record, uint64_t at_ns,
                        uint64_t stops, uint64_t stopped_ns,
                        uint64_t longest_ns)
{
    struct otelbase_json *const json = &record->json;

    line_open(json);
    number_member(json, "end", at_ns);
    number_member(json, "stops", stops);
    number_member(json, "stopped_ns", stopped_ns);
    number_member(json, "longest_ns", longest_ns);
    line_close(json);
}
