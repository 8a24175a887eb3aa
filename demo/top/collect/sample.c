/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/sample.h"

#include "demo/top/collect/describe.h"

#include <errno.h>
#include <stdlib.h>

/* The assumed time of a stop, before the first is measured. */
#define STOP_GUESS_NS 30000U

void oteltop_sample_emit(struct oteltop_collector *collector,
                         struct oteltop_watched *watched,
                         struct oteltop_sample *sample)
{
    sample->at_ns = collector->last_ns - collector->start_ns;
    watched->accounted_ns += sample->cpu_ns;
    collector->taker.sample(collector->taker.self, sample);
}

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

/* Whether the thread could not be read this time. Not every kernel tells the
 * address of the variables of a thread that is not stopped. */
static bool was_missed(enum otelread_thread_status status, bool was_stopped)
{
    return status == OTELREAD_THREAD_ENDED ||
           status == OTELREAD_THREAD_NOT_STOPPED ||
           status == OTELREAD_THREAD_BUSY ||
           (was_stopped && status == OTELREAD_THREAD_ERROR);
}

/* Whether a thread that is not running was given a processor since the last
 * look. */
static bool has_run(const struct oteltop_task *task)
{
    struct oteltop_schedstat now;

    return task->schedstat < 0 ||
           oteltop_schedstat_read(task->schedstat, &now) != 0 ||
           now.slices != task->now.slices;
}

static void take_sample(struct oteltop_collector *collector,
                        struct oteltop_watched *watched,
                        const struct otelread_thread *thread, bool was_stopped)
{
    struct oteltop_task *const task = task_of(watched, thread->tid);
    struct oteltop_span like;
    const bool sleeps = task && task->state != 'R';
    /* A sleeping thread's context is not the one that its processor time was
     * for. */
    const bool works = !sleeps || task->state == 'D';

    if (!task || was_missed(thread->status, was_stopped) ||
        (sleeps && has_run(task)))
        return; /* the next sample stands for this time */

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
    oteltop_sample_emit(collector, watched, &sample);
}

/* A newly published context may give the threads' keys another meaning. The
 * threads then keep the time that they owe, until the new context is read. */
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
    watched->has_contexts = error == 0; /* else search for contexts again */
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
            take_sample(collector, watched, thread, stop);
    }
}

static uint64_t stop_ns(const struct oteltop_collector *collector)
{
    const struct oteltop_cost *const cost = &collector->cost;

    return cost->stops > 0 ? cost->stopped_ns / cost->stops : STOP_GUESS_NS;
}

/* Running threads have to be stopped. When the allowance for stops is used up,
 * the remaining threads keep the time that they owe: each look begins with
 * another thread. Returns whether there was a thread to stop. */
static bool sample_threads(struct oteltop_collector *collector,
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

void oteltop_sample_all(struct oteltop_collector *collector)
{
    size_t at = collector->next_sampled;

    for (size_t i = 0; i < collector->count; i++) {
        at = (at + 1) % collector->count;

        struct oteltop_watched *const watched = collector->watched[at];
        if (!watched->has_ended && watched->has_contexts &&
            sample_threads(collector, watched))
            collector->next_sampled = at;
    }
}
