/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/sample.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/os/task_status.h"
#include "demo/reader/os/tracee.h"
#include "demo/reader/report/judge.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* How often to look for threads that were created meanwhile. */
#define PASSES_MAX 16

/*
 * How long to wait for a thread to stop. A thread in uninterruptible sleep does
 * not stop; only the first of many such threads may take the longest time.
 */
#define LIMIT_MAX_NS 500000000U
#define LIMIT_MIN_NS 5000000U
#define BUDGET_NS    2000000000U

/* On a machine that is very busy. */
#define LIMIT_BUSY_NS 10000000000U

/* For who looks many times a second: a thread that executes code stops well
 * before. */
#define LIMIT_BRIEF_NS 300000U

/* How long to wait for another tracer to release a thread. */
#define OTHERS_PATIENCE                                                        \
    ((struct otelread_patience){.tries_max = 10000, .duration_ns = 1000000000})

/*
 * Between two stores of one change, the storages of a thread differ, also while
 * it waits for a processor: only a thread whose storages differ at so many
 * looks is told. A thread that sleeps is in no change: each look counts for
 * half of them. For running ones there are pauses, which get longer, up to a
 * budget.
 */
#define AGREE_LOOKS     8
#define AGREE_PAUSE_NS  1000000U
#define AGREE_BUDGET_NS 1000000000U

struct sampling {
    struct otelread_sample *sample;
    struct otelread_target *target;
    const struct otelread_places *places;
    enum otelread_manner manner;
    size_t next; /* the thread to be read */
    bool held;   /* the last one still is: see struct otelread_tracee */
    uint64_t budget_ns;
    uint64_t agree_budget_ns;
    bool refused;   /* waiting for a thread was in vain: do not wait again */
    pid_t debugger; /* for its tracer, or 0: forbidden */
};

/* ---- which threads ------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const struct otelread_thread *const left = a;
    const struct otelread_thread *const right = b;

    return (left->tid > right->tid) - (left->tid < right->tid);
}

int otelread_sample_add(struct otelread_sample *sample, pid_t tid)
{
    if (sample->count == sample->room) {
        const size_t room = sample->room == 0 ? 16 : 2 * sample->room;
        struct otelread_thread *const grown =
            realloc(sample->threads, room * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        sample->threads = grown;
        sample->room = room;
    }
    sample->threads[sample->count++] = (struct otelread_thread){.tid = tid};
    return 0;
}

void otelread_sample_sort(struct otelread_sample *sample)
{
    if (sample->count > 0)
        qsort(sample->threads, sample->count, sizeof(*sample->threads),
              compare);
}

/* Appends the threads that are new; those before are sorted by tid. */
static int find_new(struct otelread_sample *sample, pid_t pid)
{
    const size_t known = sample->count;
    pid_t *tids;
    size_t count;

    int error = otelread_threads_list(pid, &tids, &count);
    if (error == -ENOENT || error == -ESRCH)
        return 0; /* it has ended; there are no new ones */
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct otelread_thread key = {.tid = tids[i]};

        if (known == 0 ||
            !bsearch(&key, sample->threads, known, sizeof(key), compare))
            error = otelread_sample_add(sample, tids[i]);
    }
    free(tids);
    return error;
}

/* ---- one after the other ------------------------------------------------ */

/*
 * Whether to try again to stop a thread that another tracer may hold. Another
 * reader releases it in a moment, perhaps before its pid could be read; a
 * debugger does not, and a missing permission stays missing.
 */
static bool may_become_free(struct sampling *sampling,
                            const struct otelread_thread *thread,
                            struct otelread_patience *patience)
{
    if (thread->status != OTELREAD_THREAD_NO_PERMISSION ||
        (sampling->refused && sampling->debugger == thread->tracer))
        return false;
    if (otelread_patience_left(patience))
        return true;
    sampling->refused = true;
    sampling->debugger = thread->tracer;
    return false;
}

static void read_stopped(struct sampling *sampling,
                         struct otelread_thread *thread)
{
    struct otelread_patience patience = OTHERS_PATIENCE;
    const uint64_t budget_ns =
        sampling->budget_ns > LIMIT_MIN_NS ? sampling->budget_ns : LIMIT_MIN_NS;
    const struct otelread_limit limit = {
        .ns = budget_ns < LIMIT_MAX_NS ? budget_ns : LIMIT_MAX_NS,
        .busy_ns = LIMIT_BUSY_NS};

    do {
        sampling->held = otelread_thread_read_stopped(thread, sampling->target,
                                                      sampling->places, limit);
    } while (may_become_free(sampling, thread, &patience));
    if (thread->status == OTELREAD_THREAD_NOT_STOPPED)
        sampling->budget_ns =
            budget_ns > LIMIT_MAX_NS ? sampling->budget_ns - LIMIT_MAX_NS : 0;
}

static void read_briefly(struct sampling *sampling,
                         struct otelread_thread *thread)
{
    sampling->held = otelread_thread_read_stopped(
        thread, sampling->target, sampling->places,
        (struct otelread_limit){.ns = LIMIT_BRIEF_NS});
}

/*
 * A record is read stopped. The profiler's variable has a checksum: a thread is
 * stopped for it only where its thread pointer cannot be found otherwise, and
 * not when there is a ring, which has more.
 */
static void read_tls(struct sampling *sampling, struct otelread_thread *thread)
{
    const struct otelread_places *const places = sampling->places;

    if (sampling->manner == OTELREAD_BRIEFLY) {
        read_briefly(sampling, thread);
        return;
    }
    if (sampling->manner == OTELREAD_STOPPED && places->tls) {
        read_stopped(sampling, thread);
        return;
    }
    otelread_thread_read_running(thread, sampling->target, places);
    if (places->tls ||
        thread->storages.profiler_status != OTELREAD_PROFILED_NONE)
        return;
    if (sampling->manner == OTELREAD_STOPPED && !places->ring)
        read_stopped(sampling, thread);
    else if (thread->status != OTELREAD_THREAD_ENDED)
        otelread_judge(thread, OTELREAD_THREAD_NO_TLS, "%s", "");
}

/* The ring by itself when the thread's TLS cannot be reached. */
static void read_storages(struct sampling *sampling,
                          struct otelread_thread *thread)
{
    struct otelread_target *const target = sampling->target;
    const struct otelread_places *const places = sampling->places;

    if (places->ring)
        thread->storages.inside =
            otelread_task_inside(target->pid, thread->tid);
    if (!places->tls && !places->profiler)
        otelread_judge(thread, OTELREAD_THREAD_NO_TLS, "%s", "");
    else
        read_tls(sampling, thread);
    if (places->ring && thread->storages.ring_status == OTELREAD_SLOT_NONE)
        otelread_thread_read_ring(thread, target, places);
}

/* Whether to look again at a thread whose storages differ, after a pause. */
static bool may_agree(struct sampling *sampling, struct otelread_thread *thread,
                      unsigned *looks)
{
    struct otelread_stat stat;
    const bool sleeps =
        otelread_stat_read(sampling->target->pid, thread->tid, &stat) == 0 &&
        stat.state == 'S';
    const uint64_t pause_ns = (uint64_t)AGREE_PAUSE_NS << (sleeps ? 0 : *looks);

    *looks += sleeps ? AGREE_LOOKS / 2 : 1;
    if (*looks >= AGREE_LOOKS)
        return false;
    if (pause_ns > sampling->agree_budget_ns) {
        thread->storages.disagreement[0] = '\0'; /* nobody knows */
        return false;
    }
    sampling->agree_budget_ns -= pause_ns;
    otelread_sleep_ns(pause_ns);
    return true;
}

static void read_one(struct sampling *sampling, struct otelread_thread *thread)
{
    struct otelread_target *const target = sampling->target;
    const pid_t task = target->task;
    unsigned looks = 0;

    if (otelread_stat_read(target->pid, thread->tid, &thread->stat) != 0 ||
        thread->stat.ended) {
        otelread_judge(thread, OTELREAD_THREAD_ENDED, "%s", "");
        return;
    }
    if (thread->stat.kernels_own) {
        otelread_judge(thread, OTELREAD_THREAD_UNTOUCHED,
                       "it is one of the kernel's own");
        return;
    }

    target->task = thread->tid; /* exists, even if the main thread ended */
    do {
        read_storages(sampling, thread);
    } while (otelread_thread_disagrees(thread) && !sampling->held &&
             may_agree(sampling, thread, &looks));
    target->task = task;
}

static void *read_some(void *opaque)
{
    struct sampling *const sampling = opaque;
    struct otelread_sample *const sample = sampling->sample;

    sampling->held = false;
    while (sampling->next < sample->count && !sampling->held)
        read_one(sampling, &sample->threads[sampling->next++]);
    return NULL;
}

/*
 * A stopped thread runs again when its tracer, which is a thread, ends in
 * whatever way. So a new thread does the tracing, and ends afterwards.
 */
static int read_all(struct sampling *sampling)
{
    int error = 0;

    while (sampling->next < sampling->sample->count && error == 0) {
        pthread_t thread;

        error = pthread_create(&thread, NULL, read_some, sampling);
        if (error == 0)
            error = pthread_join(thread, NULL);
    }
    return -error;
}

/* The threads that were added and not read yet; no others. */
static int read_added(struct sampling *sampling)
{
    const int error = read_all(sampling);

    otelread_sample_sort(sampling->sample);
    return error;
}

/* Also the threads that begin meanwhile. */
static int read_every(struct sampling *sampling)
{
    struct otelread_sample *const sample = sampling->sample;
    int error = 0;

    for (unsigned i = 0; i < PASSES_MAX && error == 0; i++) {
        const size_t before = sample->count;

        error = find_new(sample, sampling->target->pid);
        if (error != 0 || sample->count == before)
            break;
        sampling->next = before;
        error = read_added(sampling);
    }
    return error;
}

static int take(struct otelread_sample *sample, struct otelread_target *target,
                const struct otelread_places *places,
                enum otelread_manner manner, int (*read)(struct sampling *))
{
    struct sampling sampling = {.sample = sample,
                                .target = target,
                                .places = places,
                                .manner = manner,
                                .budget_ns = BUDGET_NS,
                                .agree_budget_ns = AGREE_BUDGET_NS};
    struct otelread_tracer tracer;

    if (manner != OTELREAD_AS_IT_RUNS)
        otelread_memory_prepare(target);
    otelread_tracer_begin(&tracer);
    const int error = read(&sampling);
    otelread_tracer_end(&tracer);
    return error;
}

int otelread_sample_take(struct otelread_sample *sample,
                         struct otelread_target *target,
                         const struct otelread_places *places,
                         enum otelread_manner manner)
{
    return take(sample, target, places, manner, read_every);
}

int otelread_sample_read(struct otelread_sample *sample,
                         struct otelread_target *target,
                         const struct otelread_places *places,
                         enum otelread_manner manner)
{
    return take(sample, target, places, manner, read_added);
}

void otelread_sample_clear(struct otelread_sample *sample)
{
    while (sample->count > 0)
        otelread_thread_free(&sample->threads[--sample->count]);
}

void otelread_sample_free(struct otelread_sample *sample)
{
    otelread_sample_clear(sample);
    free(sample->threads);
    *sample = (struct otelread_sample){.count = 0};
}
