/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/collector.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/os/processes.h"
#include "demo/top/collect/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000U

/* Processes are listed this often. */
#define LIST_NS 250000000U

/* Threads are stopped for one part of so many of the time. */
#define STOP_SHARE 250

/* After a stop that took long, because the machine stood still, there is none
 * for a second at most. */
#define LOWEST_NS ((int64_t)(SECOND_NS / STOP_SHARE))

/* What a stop takes, before the first one was measured. */
#define STOP_GUESS_NS 30000U

/* Of a second, how long this program may be busy before it looks less often,
 * and when it looks more often again. */
#define BUSY_MAX_NS 800000000U
#define BUSY_LOW_NS 500000000U

/* Less than this that nobody has seen is the kernel's delay. */
#define UNSEEN_NS 10000000U

/* A thread that used more since the last table should have had a sample. */
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
    if (oteltop_watched_update(added) != 0) { /* it is gone already */
        oteltop_watched_free(added);
        free(added);
        return 0;
    }
    grown[collector->count++] = added;
    return 0;
}

/* Why its threads have no contexts, or why this time was not sampled. */
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

static void emit(struct oteltop_collector *collector,
                 struct oteltop_watched *watched, struct oteltop_sample *sample)
{
    sample->at_ns = collector->last_ns - collector->start_ns;
    watched->accounted_ns += sample->cpu_ns;
    collector->taker.sample(collector->taker.self, sample);
}

/* What its threads owed when it ended. */
static void emit_rest(struct oteltop_collector *collector,
                      struct oteltop_watched *watched)
{
    if (watched->count > 0 && watched->cpu_ns > watched->accounted_ns)
        emit(collector, watched,
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

/* A number that was given again is another process, once this one is gone. */
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

/* What a program has used that executes another one now counts for it. */
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

/* Each process once a second, a few at each look. */
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

/* ---- samples ------------------------------------------------------------ */

static int compare_tid(const void *tid, const void *task)
{
    const pid_t wanted = *(const pid_t *)tid;
    const pid_t has = ((const struct oteltop_task *)task)->thread->tid;

    return (wanted > has) - (wanted < has);
}

static struct oteltop_task *task_of(const struct oteltop_watched *watched,
                                    pid_t tid)
{
    return watched->count == 0 ? NULL
                               : bsearch(&tid, watched->tasks, watched->count,
                                         sizeof(*watched->tasks), compare_tid);
}

/* It could not be read this time: the kernel does not tell everywhere where
 * the variables of a thread are that has not stopped. */
static bool was_missed(enum otelread_thread_status status, bool was_stopped)
{
    return status == OTELREAD_THREAD_ENDED ||
           status == OTELREAD_THREAD_NOT_STOPPED ||
           status == OTELREAD_THREAD_BUSY ||
           (was_stopped && status == OTELREAD_THREAD_ERROR);
}

/* Whether a thread that did not run was given a processor meanwhile. */
static bool has_run(const struct oteltop_task *task)
{
    struct oteltop_schedstat now;

    return task->schedstat < 0 ||
           oteltop_schedstat_read(task->schedstat, &now) != 0 ||
           now.slices != task->now.slices;
}

static void take(struct oteltop_collector *collector,
                 struct oteltop_watched *watched,
                 const struct otelread_thread *thread, bool was_stopped)
{
    struct oteltop_task *const task = task_of(watched, thread->tid);
    struct oteltop_span like;
    const bool sleeps = task && task->state != 'R';
    /* What a thread used before it slept was not for what it has now. */
    const bool works = !sleeps || task->state == 'D';

    if (!task || was_missed(thread->status, was_stopped) ||
        (sleeps && has_run(task)))
        return; /* the next sample stands for it */

    struct oteltop_sample sample = {
        .thread = task->thread,
        .none = oteltop_describe_span(&like, thread, watched->has_tls),
        .state = task->state,
        .is_untrusted = !was_stopped && !sleeps && watched->has_tls,
        .cpu_ns = works ? task->cpu_ns : 0,
        .wall_ns = task->wall_ns};

    if (!sample.none) {
        sample.span = oteltop_span_intern(
            watched->process, &like, collector->last_ns - collector->start_ns);
        if (!sample.span)
            sample.none = "no_memory";
    }
    task->wall_ns = 0;
    if (works) {
        task->cpu_ns = 0;
        task->was_sampled = true;
    }
    emit(collector, watched, &sample);
}

/*
 * A context that was published since may have given the keys of threads another
 * meaning. Then the threads keep what they owe, until it has been read.
 */
static bool is_republished(struct oteltop_watched *watched)
{
    return watched->report.status == OTELREAD_OK &&
           !otelread_report_is_unchanged(&watched->report);
}

static void read_threads(struct oteltop_collector *collector,
                         struct oteltop_watched *watched, const pid_t *tids,
                         size_t count, bool stop)
{
    struct otelread_threads *const threads = watched->report.threads;
    struct oteltop_cost *const cost = &collector->cost;

    if (count == 0)
        return;
    threads->manner = stop ? OTELREAD_BRIEFLY : OTELREAD_AS_IT_RUNS;

    const int error =
        otelread_threads_read_some(threads, &watched->report.target,
                                   watched->report.status == OTELREAD_OK
                                       ? &watched->report.contexts.list[0]
                                       : NULL,
                                   tids, count);
    watched->has_contexts = error == 0; /* else look for them again */
    watched->is_stale = error == -EAGAIN || is_republished(watched);
    for (size_t i = 0; i < threads->sample.count; i++) {
        const struct otelread_thread *const thread =
            &threads->sample.threads[i];

        if (thread->stopped) {
            cost->stops++;
            cost->stopped_ns += thread->stopped_ns;
            if (thread->stopped_ns > cost->longest_ns)
                cost->longest_ns = thread->stopped_ns;
            collector->allowed_ns -= (int64_t)thread->stopped_ns;
        }
        if (watched->has_contexts && !watched->is_stale)
            take(collector, watched, thread, stop);
    }
}

static uint64_t stop_ns(const struct oteltop_collector *collector)
{
    const struct oteltop_cost *const cost = &collector->cost;

    return cost->stops > 0 ? cost->stopped_ns / cost->stops : STOP_GUESS_NS;
}

/*
 * Threads that run have to be stopped. Whoever cannot be stopped now, because
 * enough were, keeps what it owes: the thread to begin with is another one each
 * time. Returns whether any was to be stopped.
 */
static bool sample(struct oteltop_collector *collector,
                   struct oteltop_watched *watched)
{
    pid_t *const tids = calloc(watched->count + 1, sizeof(*tids));
    size_t stops = 0;
    size_t reads = 0;
    int64_t allowed_ns = collector->allowed_ns;

    if (!tids)
        return false;
    for (size_t i = 0; i < watched->count; i++) {
        watched->next_sampled = (watched->next_sampled + 1) % watched->count;

        const struct oteltop_task *const task =
            &watched->tasks[watched->next_sampled];
        if (!task->is_due)
            continue;
        if (task->state != 'R' || collector->no_stop || !watched->has_tls) {
            tids[watched->count - ++reads] = task->thread->tid;
        } else if (allowed_ns > 0) {
            tids[stops++] = task->thread->tid;
            allowed_ns -= (int64_t)stop_ns(collector);
            watched->next_stopped = watched->next_sampled;
        } else {
            collector->cost.left_out++;
        }
    }
    watched->next_sampled = watched->next_stopped;
    read_threads(collector, watched, tids, stops, true);
    if (watched->has_contexts && !watched->is_stale)
        read_threads(collector, watched, tids + watched->count - reads, reads,
                     false);
    free(tids);
    return stops > 0;
}

/* Likewise, the process to begin with is the one behind the last of which a
 * thread was stopped. */
static void sample_all(struct oteltop_collector *collector)
{
    size_t at = collector->next_sampled;

    for (size_t i = 0; i < collector->count; i++) {
        at = (at + 1) % collector->count;

        struct oteltop_watched *const watched = collector->watched[at];
        if (!watched->has_ended && watched->has_contexts &&
            sample(collector, watched))
            collector->next_sampled = at;
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

/* Once a second: this program shall not need all of a processor. */
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
    sample_all(collector);
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
        emit(collector, watched,
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
        emit(collector, watched,
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
