/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/changes.h"

#include "demo/base/hash.h"

#include <stdlib.h>
#include <string.h>

struct otelread_seen {
    pid_t tid;
    uint64_t digest;
    bool ended;
};

static uint64_t add_text(uint64_t digest, const char *text)
{
    return otelbase_hash_add(digest, text, strlen(text) + 1);
}

static uint64_t add_record(uint64_t digest,
                           const struct otelread_record *record)
{
    digest = otelbase_hash_add(digest, &record->head, sizeof(record->head));
    return otelbase_hash_add(digest, record->attrs,
                             otelread_record_attrs_size(&record->head));
}

/* A ring's sequence number changes with a context that is set again. */
static uint64_t add_storages(uint64_t digest,
                             const struct otelread_storages *storages)
{
    const struct otelctx_ring_slot *const slot = &storages->ring;

    digest = otelbase_hash_number(digest, storages->ring_status);
    digest = otelbase_hash_number(digest, slot->trace_id_high);
    digest = otelbase_hash_number(digest, slot->trace_id_low);
    digest = otelbase_hash_number(digest, slot->span_id);
    digest = otelbase_hash_number(digest, storages->profiler_status);
    digest = otelbase_hash_add(digest, &storages->profiler,
                               sizeof(storages->profiler));
    return add_text(digest, storages->disagreement);
}

/* Of what is shown, without what differs at each look: state and stop. */
static uint64_t digest_of(const struct otelread_thread *thread)
{
    uint64_t digest = otelbase_hash_number(OTELBASE_HASH, thread->status);

    digest = otelbase_hash_number(digest, thread->stat.started);
    digest = add_text(digest, thread->stat.command);
    digest = add_text(digest, thread->message);
    if (otelread_thread_is_attached(thread))
        digest = add_record(digest, &thread->record);
    return add_storages(digest, &thread->storages);
}

static int compare(const void *a, const void *b)
{
    const struct otelread_seen *const left = a;
    const struct otelread_seen *const right = b;

    return (left->tid > right->tid) - (left->tid < right->tid);
}

static const struct otelread_seen *
seen_find(const struct otelread_changes *changes, pid_t tid)
{
    const struct otelread_seen key = {.tid = tid};

    if (changes->count == 0)
        return NULL;
    return bsearch(&key, changes->seen, changes->count, sizeof(key), compare);
}

/* What there is now; the sample is sorted. Short of memory, nothing. */
static struct otelread_changes look(const struct otelread_sample *sample)
{
    struct otelread_changes now = {.count = sample->count};

    now.seen = calloc(sample->count + 1, sizeof(*now.seen));
    for (size_t i = 0; now.seen && i < sample->count; i++) {
        const struct otelread_thread *const thread = &sample->threads[i];

        now.seen[i] = (struct otelread_seen){
            .tid = thread->tid,
            .digest = digest_of(thread),
            .ended = thread->status == OTELREAD_THREAD_ENDED,
        };
    }
    now.count = now.seen ? now.count : 0;
    return now;
}

/* The threads before, without those that are the same now. */
static void remove_same(struct otelread_sample *sample,
                        const struct otelread_changes *before,
                        const struct otelread_changes *now)
{
    size_t kept = 0;

    for (size_t i = 0; i < now->count; i++) {
        const struct otelread_seen *const old =
            seen_find(before, now->seen[i].tid);

        if (old && old->digest == now->seen[i].digest)
            otelread_thread_free(&sample->threads[i]);
        else
            sample->threads[kept++] = sample->threads[i];
    }
    sample->count = now->seen ? kept : sample->count;
}

static void add_ended(struct otelread_sample *sample,
                      const struct otelread_changes *before,
                      const struct otelread_changes *now)
{
    for (size_t i = 0; now->seen && i < before->count; i++) {
        const struct otelread_seen *const old = &before->seen[i];

        if (!old->ended && !seen_find(now, old->tid) &&
            otelread_sample_add(sample, old->tid) == 0)
            sample->threads[sample->count - 1].status = OTELREAD_THREAD_ENDED;
    }
    otelread_sample_sort(sample);
}

static uint64_t add_symbol(uint64_t digest,
                           const struct otelread_symbol *symbol)
{
    return otelbase_hash_number(add_text(digest, symbol->object),
                                (uint64_t)symbol->offset);
}

/* Of what all threads have in common. */
static uint64_t status_of(const struct otelread_threads *threads)
{
    uint64_t digest = otelbase_hash_number(OTELBASE_HASH, threads->status);

    if (threads->status != OTELREAD_THREADS_OK)
        digest = add_text(digest, threads->message);
    if (threads->has_symbol)
        digest = add_symbol(digest, &threads->search.tls.symbol);
    if (threads->has_profiler)
        digest = add_symbol(digest, &threads->search.profiler.symbol);
    digest = otelbase_hash_number(digest, threads->ring.start);
    return otelbase_hash_number(digest, threads->ring.status);
}

bool otelread_changes_keep(struct otelread_changes *changes,
                           struct otelread_threads *threads)
{
    struct otelread_sample *const sample = &threads->sample;
    struct otelread_changes now = look(sample);

    now.status = status_of(threads);
    if (now.status != changes->status)
        otelread_changes_free(changes);
    if (threads->status == OTELREAD_THREADS_OK ||
        otelread_threads_have_storage(threads)) {
        remove_same(sample, changes, &now);
        add_ended(sample, changes, &now);
        for (size_t i = 0; i < sample->count; i++) /* they have moved */
            (void)otelread_thread_interpret(&sample->threads[i], &threads->map);
    }

    const bool news = sample->count > 0 || now.status != changes->status;

    otelread_changes_free(changes);
    *changes = now;
    return news;
}

void otelread_changes_free(struct otelread_changes *changes)
{
    free(changes->seen);
    *changes = (struct otelread_changes){.count = 0};
}
