/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/collector.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/os/processes.h"
#include "demo/top/collect/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000U

/* The period of listing processes. */
#define LIST_NS 250000000U

/* Stops take at most one part in STOP_SHARE of the time. */
#define STOP_SHARE 250

/* The allowance for stops never falls below -LOWEST_NS. After a long stop, for
 * example because the machine stood still, the next one follows after a second
 * at most. */
#define LOWEST_NS ((int64_t)(SECOND_NS / STOP_SHARE))

/* Busy for longer than BUSY_MAX_NS in a second, this program looks less often;
 * for less than BUSY_LOW_NS, more often again. */
#define BUSY_MAX_NS 800000000U
#define BUSY_LOW_NS 500000000U

/* Less processor time than this without a sample is the kernel's delay in
 * accounting. */
#define UNSEEN_NS 10000000U

/* A thread that used more than this since the last table should have had a
 * sample. */
#define UNSAMPLED_NS 100000000U

/* ---- processes ---------------------------------------------------------- */

static int append(struct oteltop_collector *collector, pid_t pid)
{
    struct oteltop_watched **const grown =
        realloc(collector->watched,
                (collector->count + 1) * sizeof(struct oteltop_watched *));
    struct oteltop_watched *const added = calloc(1, sizeof(*added));

    if (grown)
        collector->watched = grown;
    if (!grown || !added) {
        free(added);
        return -ENOMEM;
    }
    added->pid = pid;
    added->ended = &collector->ended;
    added->is_new = collector->next_list_ns != 0;
    if (oteltop_watched_update(added) !=
        0) { /* the process has ended already */
        oteltop_watched_free(added);
        free(added);
        return 0;
    }
    grown[collector->count++] = added;
    return 0;
}

/* Why the threads of a process have no contexts, or were not sampled. */
static const char *reason(const struct oteltop_watched *watched)
{
    const struct otelread_report *const report = &watched->report;

    if (watched->has_contexts)
        return "not_sampled";
    if (report->status != OTELREAD_OK)
        return otelread_status_name(report->status);
    return report->threads
               ? otelread_threads_status_name(report->threads->status)
               : "not_sampled";
}

/* Emits the time that a process's threads owed when it ended. */
static void emit_rest(struct oteltop_collector *collector,
                      struct oteltop_watched *watched)
{
    if (watched->count > 0 && watched->cpu_ns > watched->accounted_ns)
        oteltop_sample_emit(
            collector, watched,
            &(struct oteltop_sample){.thread = watched->tasks[0].thread,
                                     .none = reason(watched),
                                     .state = '?',
                                     .cpu_ns = watched->cpu_ns -
                                               watched->accounted_ns});
}

static void remove_ended(struct oteltop_collector *collector)
{
    size_t kept = 0;

    for (size_t i = 0; i < collector->count; i++) {
        struct oteltop_watched *const watched = collector->watched[i];

        if (!watched->has_ended) {
            collector->watched[kept++] = watched;
            continue;
        }
        emit_rest(collector, watched);
        if (watched->process)
            collector->taker.gone(collector->taker.self, watched->process,
                                  collector->last_ns - collector->start_ns);
        oteltop_watched_free(watched);
        free(watched);
    }
    collector->count = kept;
}

static int compare(const void *a, const void *b)
{
    const struct oteltop_watched *const left =
        *(struct oteltop_watched *const *)a;
    const struct oteltop_watched *const right =
        *(struct oteltop_watched *const *)b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

static bool is_watched(const struct oteltop_collector *collector, size_t known,
                       pid_t pid)
{
    struct oteltop_watched key = {.pid = pid};
    const struct oteltop_watched *const pointer = &key;

    return known > 0 && bsearch(&pointer, collector->watched, known,
                                sizeof(pointer), compare);
}

/* A pid that was used again is another process, once the first has ended. */
static int list(struct oteltop_collector *collector)
{
    const size_t known = collector->count;
    const pid_t *pids = collector->pids;
    size_t count = collector->pids_count;
    pid_t *all = NULL;
    int error = 0;

    if (!pids) {
        error = otelread_processes_list(&all, &count);
        pids = all;
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        if (!is_watched(collector, known, pids[i]))
            error = append(collector, pids[i]);
    }
    free(all);
    if (collector->count > known)
        qsort(collector->watched, collector->count,
              sizeof(struct oteltop_watched *), compare);
    return error;
}

/* After an exec, emits the time that the old program used, then updates. */
static void update(struct oteltop_collector *collector,
                   struct oteltop_watched *watched)
{
    const struct oteltop_process *const before = watched->process;
    const unsigned number = before->number;

    if (otelread_memory_is_gone(&watched->report.target))
        emit_rest(collector, watched);
    if (oteltop_watched_update(watched) == -ESRCH)
        watched->has_ended = true;
    else if (watched->process->number != number)
        collector->taker.gone(collector->taker.self, before,
                              collector->last_ns - collector->start_ns);
}

static void update_stale(struct oteltop_collector *collector)
{
    for (size_t i = 0; i < collector->count; i++) {
        struct oteltop_watched *const watched = collector->watched[i];

        if (watched->is_stale && !watched->has_ended)
            update(collector, watched);
    }
}

/* Updates each process once a second, a few at each look. */
static void update_some(struct oteltop_collector *collector)
{
    size_t some = collector->count / collector->hz + 1;

    for (; some > 0 && collector->count > 0; some--) {
        collector->next_updated =
            (collector->next_updated + 1) % collector->count;

        struct oteltop_watched *const watched =
            collector->watched[collector->next_updated];
        if (!watched->has_ended)
            update(collector, watched);
    }
}

/* ---- the rate ----------------------------------------------------------- */

static void set_rate(struct oteltop_collector *collector, unsigned hz)
{
    if (hz < 1)
        hz = 1;
    if (hz > collector->hz_wanted)
        hz = collector->hz_wanted;
    if (hz == collector->hz)
        return;
    collector->hz = hz;
    collector->taker.rate(collector->taker.self, hz,
                          collector->last_ns - collector->start_ns);
}

/* Adapts the rate once a second, so that this program does not need a whole
 * processor. */
static void adapt(struct oteltop_collector *collector)
{
    if (collector->busy_ns > BUSY_MAX_NS)
        set_rate(collector, collector->hz * 2 / 3);
    else if (collector->busy_ns < BUSY_LOW_NS)
        set_rate(collector, collector->hz + collector->hz / 4 + 1);
    collector->busy_ns = 0;
}

/* ---- all of it ---------------------------------------------------------- */

int oteltop_collector_begin(struct oteltop_collector *collector)
{
    collector->start_ns = collector->last_ns = otelread_monotonic_ns();
    collector->hz = collector->hz_wanted;
    return list(collector);
}

uint64_t oteltop_collector_next_ns(const struct oteltop_collector *collector)
{
    return collector->last_ns + SECOND_NS / collector->hz;
}

static void allow(struct oteltop_collector *collector, uint64_t passed_ns)
{
    collector->allowed_ns += (int64_t)(passed_ns / STOP_SHARE);
    if (collector->allowed_ns > SECOND_NS / STOP_SHARE / 10)
        collector->allowed_ns = SECOND_NS / STOP_SHARE / 10;
    if (collector->allowed_ns < -LOWEST_NS)
        collector->allowed_ns = -LOWEST_NS;
}

void oteltop_collector_look(struct oteltop_collector *collector)
{
    const uint64_t now_ns = otelread_monotonic_ns();
    const uint64_t passed_ns = now_ns - collector->last_ns;

    collector->last_ns = now_ns;
    allow(collector, passed_ns);
    if (now_ns >= collector->next_list_ns) {
        collector->next_list_ns = now_ns + LIST_NS;
        (void)list(collector);
    }
    update_stale(collector);
    update_some(collector);
    for (size_t i = 0; i < collector->count; i++)
        oteltop_watched_look(collector->watched[i], passed_ns,
                             collector->every);
    oteltop_sample_all(collector);
    remove_ended(collector);
    collector->busy_ns += otelread_monotonic_ns() - now_ns;
    if (now_ns >= collector->next_adapted_ns) {
        if (collector->next_adapted_ns != 0)
            adapt(collector);
        collector->next_adapted_ns = now_ns + SECOND_NS;
    }
}

static void emit_owed(struct oteltop_collector *collector,
                      struct oteltop_watched *watched,
                      struct oteltop_task *task)
{
    if (task->cpu_ns > 0)
        oteltop_sample_emit(collector, watched,
                            &(struct oteltop_sample){.thread = task->thread,
                                                     .none = "not_sampled",
                                                     .state = '?',
                                                     .cpu_ns = task->cpu_ns});
    task->cpu_ns = 0;
}

static void emit_unsampled(struct oteltop_collector *collector,
                           struct oteltop_watched *watched)
{
    for (size_t i = 0; i < watched->count; i++) {
        struct oteltop_task *const task = &watched->tasks[i];

        if (!task->was_sampled && task->cpu_ns > UNSAMPLED_NS)
            emit_owed(collector, watched, task);
        task->was_sampled = false;
    }
}

void oteltop_collector_finish(struct oteltop_collector *collector)
{
    oteltop_collector_look(collector);
    for (size_t i = 0; i < collector->count; i++) {
        struct oteltop_watched *const watched = collector->watched[i];

        for (size_t j = 0; j < watched->count; j++)
            emit_owed(collector, watched, &watched->tasks[j]);
    }
}

void oteltop_collector_settle(struct oteltop_collector *collector)
{
    for (size_t i = 0; i < collector->count; i++) {
        struct oteltop_watched *const watched = collector->watched[i];
        const uint64_t unseen_ns = oteltop_watched_unseen(watched);

        emit_unsampled(collector, watched);
        if (watched->count == 0 || unseen_ns == 0 ||
            (watched->has_contexts && unseen_ns < UNSEEN_NS))
            continue;
        oteltop_sample_emit(
            collector, watched,
            &(struct oteltop_sample){.thread = watched->tasks[0].thread,
                                     .none = reason(watched),
                                     .state = '?',
                                     .cpu_ns = unseen_ns});
    }
}

void oteltop_collector_forget(struct oteltop_collector *collector)
{
    const uint64_t now_ns = collector->last_ns - collector->start_ns;
    const uint64_t since_ns =
        now_ns > 10ULL * SECOND_NS ? now_ns - 10ULL * SECOND_NS : 0;

    oteltop_ended_free(&collector->ended);
    for (size_t i = 0; i < collector->count; i++)
        oteltop_process_forget(collector->watched[i]->process, since_ns);
}

void oteltop_collector_free(struct oteltop_collector *collector)
{
    for (size_t i = 0; i < collector->count; i++) {
        oteltop_watched_free(collector->watched[i]);
        free(collector->watched[i]);
    }
    free(collector->watched);
    oteltop_ended_free(&collector->ended);
}
