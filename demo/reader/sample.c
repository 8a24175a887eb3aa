/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/sample.h"

#include "demo/reader/clock.h"
#include "demo/reader/processes.h"
#include "demo/reader/tracee.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Threads that begin while others are read are read, too, so many times. */
#define PASSES_MAX 16

/*
 * How long to wait for a thread to stop. A thread in uninterruptible sleep
 * does not; of very many only the first ones may cost that much.
 */
#define LIMIT_MAX_NS 500000000U
#define LIMIT_MIN_NS 5000000U
#define BUDGET_NS    2000000000U

/* With who traces a thread just then. */
#define OTHERS_PATIENCE                                                        \
    ((struct otelread_patience){.tries_max = 10000, .duration_ns = 1000000000})

struct sampling {
    struct otelread_threads *threads;
    struct otelread_report *report;
    size_t next; /* the thread to be read */
    bool held;   /* the last one still is: see struct otelread_tracee */
    uint64_t budget_ns;
    bool refused;   /* for good, one thread: */
    pid_t debugger; /* by who traced it, or 0 */
};

/* ---- which threads ------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    const struct otelread_thread *const left = a;
    const struct otelread_thread *const right = b;

    return (left->tid > right->tid) - (left->tid < right->tid);
}

static int thread_add(struct otelread_threads *threads, pid_t tid)
{
    if (threads->count == threads->room) {
        const size_t room = threads->room == 0 ? 16 : 2 * threads->room;
        struct otelread_thread *const grown =
            realloc(threads->threads, room * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        threads->threads = grown;
        threads->room = room;
    }
    threads->threads[threads->count++] = (struct otelread_thread){.tid = tid};
    return 0;
}

/* Adds the threads that are not there yet behind the others, which are sorted.
 */
static int find_new(struct otelread_threads *threads, pid_t pid)
{
    const size_t known = threads->count;
    pid_t *tids;
    size_t count;

    int error = otelread_threads_list(pid, &tids, &count);
    if (error == -ENOENT || error == -ESRCH)
        return 0; /* it has ended; there are no new ones */
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct otelread_thread key = {.tid = tids[i]};

        if (known == 0 || bsearch(&key, threads->threads, known, sizeof(key),
                                  compare) == NULL)
            error = thread_add(threads, tids[i]);
    }
    free(tids);
    return error;
}

/* ---- what they say ------------------------------------------------------ */

/* OTEP 4947, "attribute_key_map dictionary semantics": an index that is not
 * known may have been added since. What cannot be renewed stays. */
static void refresh(struct otelread_threads *threads,
                    struct otelread_report *report)
{
    struct otelread_context fresh = {.mapping = report->contexts[0].mapping};
    struct otelread_keymap map;
    char why[256];

    if (otelread_context_read(&report->target, OTELREAD_PATIENCE_SHORT,
                              &fresh) != 0 ||
        otelread_keymap_read(&fresh.decoded.extra, &map, why, sizeof(why)) !=
            0) {
        otelread_context_free(&fresh);
        return;
    }
    otelread_context_free(&threads->renewed);
    threads->renewed = fresh;
    threads->map = map;
}

/* Returns whether there were keys that the map lacks. */
static bool judge_all(struct otelread_threads *threads)
{
    bool unknown = false;

    for (size_t i = 0; i < threads->count; i++) {
        struct otelread_thread *const thread = &threads->threads[i];
        struct otelread_meaning meaning;

        if (!otelread_thread_is_attached(thread))
            continue;
        otelread_record_decode(&thread->record, &threads->map, &meaning);
        otelread_thread_judge(thread, &meaning);
        unknown = unknown || meaning.unknown_keys;
    }
    return unknown;
}

/*
 * Keys are known before they are used: a map that is read after the last of
 * the records has what they have. All of them by one map, which is shown.
 */
static void interpret(struct otelread_threads *threads,
                      struct otelread_report *report)
{
    if (judge_all(threads)) {
        refresh(threads, report);
        (void)judge_all(threads);
    }
}

/* ---- one after the other ------------------------------------------------ */

/*
 * Another reader is done with a thread in a moment, perhaps before it could be
 * seen; a debugger is not, and no more is who does not permit it.
 */
static bool is_to_be_free(struct sampling *sampling,
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
    const uint64_t limit_ns =
        sampling->budget_ns > LIMIT_MIN_NS ? sampling->budget_ns : LIMIT_MIN_NS;

    do {
        sampling->held = otelread_thread_read_stopped(
            thread, &sampling->report->target, &sampling->threads->symbol,
            limit_ns < LIMIT_MAX_NS ? limit_ns : LIMIT_MAX_NS);
    } while (is_to_be_free(sampling, thread, &patience));
    if (thread->status == OTELREAD_THREAD_NOT_STOPPED)
        sampling->budget_ns =
            limit_ns > LIMIT_MAX_NS ? sampling->budget_ns - LIMIT_MAX_NS : 0;
}

static void read_one(struct sampling *sampling, struct otelread_thread *thread)
{
    struct otelread_target *const target = &sampling->report->target;
    const pid_t task = target->task;

    if (otelread_stat_read(target->pid, thread->tid, &thread->stat) != 0 ||
        thread->stat.ended) {
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
        return;
    }
    if (thread->stat.kernels_own) {
        otelread_thread_say(thread, OTELREAD_THREAD_UNTOUCHED,
                            "it is one of the kernel's own");
        return;
    }

    target->task = thread->tid; /* it is there, whoever else has ended */
    if (sampling->threads->stop)
        read_stopped(sampling, thread);
    else
        otelread_thread_read_running(thread, target,
                                     &sampling->threads->symbol);
    target->task = task;
}

static void *read_some(void *opaque)
{
    struct sampling *const sampling = opaque;
    struct otelread_threads *const threads = sampling->threads;

    sampling->held = false;
    while (sampling->next < threads->count && !sampling->held)
        read_one(sampling, &threads->threads[sampling->next++]);
    return NULL;
}

/*
 * What is stopped belongs to the thread that stopped it, and runs when that
 * ends, in whatever way: so that is one of its own.
 */
static int read_all(struct sampling *sampling)
{
    int error = 0;

    while (sampling->next < sampling->threads->count && error == 0) {
        pthread_t thread;

        error = pthread_create(&thread, NULL, read_some, sampling);
        if (error == 0)
            error = pthread_join(thread, NULL);
    }
    return -error;
}

int otelread_sample(struct otelread_threads *threads,
                    struct otelread_report *report)
{
    struct sampling sampling = {
        .threads = threads, .report = report, .budget_ns = BUDGET_NS};
    struct otelread_tracer tracer;
    int error = 0;

    otelread_tracer_begin(&tracer);
    for (unsigned i = 0; i < PASSES_MAX && error == 0; i++) {
        const size_t before = threads->count;

        error = find_new(threads, report->target.pid);
        if (error != 0 || threads->count == before)
            break;
        sampling.next = before;
        error = read_all(&sampling);
        qsort(threads->threads, threads->count, sizeof(*threads->threads),
              compare);
    }
    otelread_tracer_end(&tracer);
    if (error == 0)
        interpret(threads, report);
    return error;
}
