/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/model/model.h"

#include "demo/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

struct oteltop_process *oteltop_process_new(pid_t pid)
{
    static unsigned last;
    struct oteltop_process *const process = calloc(1, sizeof(*process));

    if (process) {
        process->number = ++last;
        process->pid = pid;
    }
    return process;
}

void oteltop_span_free(struct oteltop_span *span)
{
    if (!span)
        return;
    oteltop_attributes_free(&span->attributes);
    free(span);
}

void oteltop_process_free(struct oteltop_process *process)
{
    if (!process)
        return;
    oteltop_process_forget(process, UINT64_MAX);
    oteltop_attributes_free(&process->resource);
    free(process->spans);
    free(process->command);
    free(process->container);
    free(process->pod);
    free(process->cgroup);
    free(process->context);
    free(process);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool oteltop_process_is_same(const struct oteltop_process *a,
                             const struct oteltop_process *b)
{
    return is_same_text(a->command, b->command) &&
           is_same_text(a->container, b->container) &&
           is_same_text(a->pod, b->pod) && is_same_text(a->cgroup, b->cgroup) &&
           is_same_text(a->context, b->context) &&
           oteltop_attributes_are_same(&a->resource, &b->resource);
}

struct oteltop_thread *oteltop_thread_new(struct oteltop_process *process,
                                          pid_t tid, const char *name)
{
    static unsigned last;
    struct oteltop_thread *const thread = calloc(1, sizeof(*thread));

    if (!thread)
        return NULL;
    *thread = (struct oteltop_thread){
        .number = ++last, .tid = tid, .name = strdup(name), .process = process};
    if (!thread->name) {
        free(thread);
        return NULL;
    }
    return thread;
}

void oteltop_thread_free(struct oteltop_thread *thread)
{
    if (!thread)
        return;
    free(thread->name);
    free(thread);
}

void oteltop_ended_add_process(struct oteltop_ended *ended,
                               struct oteltop_process *process)
{
    process->next = ended->processes;
    ended->processes = process;
}

void oteltop_ended_add_thread(struct oteltop_ended *ended,
                              struct oteltop_thread *thread)
{
    thread->next = ended->threads;
    ended->threads = thread;
}

void oteltop_ended_free(struct oteltop_ended *ended)
{
    while (ended->threads) {
        struct oteltop_thread *const thread = ended->threads;

        ended->threads = thread->next;
        oteltop_thread_free(thread);
    }
    while (ended->processes) {
        struct oteltop_process *const process = ended->processes;

        ended->processes = process->next;
        oteltop_process_free(process);
    }
}

static bool has_same_ids(const struct oteltop_span *a,
                         const struct oteltop_span *b)
{
    return memcmp(a->trace_id, b->trace_id, sizeof(a->trace_id)) == 0 &&
           memcmp(a->span_id, b->span_id, sizeof(a->span_id)) == 0;
}

static bool is_same(const struct oteltop_span *a, const struct oteltop_span *b)
{
    return has_same_ids(a, b) && a->flags == b->flags &&
           oteltop_attributes_are_same(&a->attributes, &b->attributes);
}

/* The list of the spans whose ids have the same hash. */
static struct oteltop_span **bucket_of(struct oteltop_process *process,
                                       const struct oteltop_span *span)
{
    uint64_t hash = otelbase_hash_add(OTELBASE_HASH, span->trace_id,
                                      sizeof(span->trace_id));

    hash = otelbase_hash_add(hash, span->span_id, sizeof(span->span_id));
    return &process->spans[hash % BUCKETS];
}

struct oteltop_span *oteltop_span_new(struct oteltop_span *like)
{
    static unsigned last;
    struct oteltop_span *const span = malloc(sizeof(*span));

    if (span) {
        *span = *like;
        span->number = ++last;
        span->is_recorded = false;
        like->attributes = (struct oteltop_attributes){.count = 0};
    }
    return span;
}

struct oteltop_span *oteltop_span_intern(struct oteltop_process *process,
                                         struct oteltop_span *like,
                                         uint64_t now_ns)
{
    struct oteltop_span *found = NULL;

    if (!process->spans)
        process->spans = calloc(BUCKETS, sizeof(struct oteltop_span *));
    if (process->spans) {
        struct oteltop_span **const bucket = bucket_of(process, like);

        like->first_ns = now_ns;
        for (struct oteltop_span *i = *bucket; i && !found; i = i->next) {
            if (is_same(i, like))
                found = i;
            else if (has_same_ids(i, like) && i->first_ns < like->first_ns)
                like->first_ns = i->first_ns;
        }
        if (!found && (found = oteltop_span_new(like))) {
            found->next = *bucket;
            *bucket = found;
        }
    }
    if (found)
        found->last_ns = now_ns;
    oteltop_attributes_free(&like->attributes);
    return found;
}

void oteltop_process_forget(struct oteltop_process *process, uint64_t since_ns)
{
    for (size_t i = 0; process->spans && i < BUCKETS; i++) {
        struct oteltop_span **at = &process->spans[i];

        while (*at) {
            struct oteltop_span *const span = *at;

            if (span->last_ns < since_ns) {
                *at = span->next;
                oteltop_span_free(span);
            } else {
                at = &span->next;
            }
        }
    }
}
