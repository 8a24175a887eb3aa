/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/watched.h"

#include "demo/reader/os/memory.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/os/stat.h"
#include "demo/top/collect/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel accounts for a running thread only at its ticks. So a process
 * counts as idle only after it has used nothing for this long. */
#define IDLE_NS 500000000U

/* ---- its threads -------------------------------------------------------- */

static void task_end(struct oteltop_watched *watched, struct oteltop_task *task)
{
    if (task->schedstat >= 0)
        (void)close(task->schedstat);
    oteltop_ended_add_thread(watched->ended, task->thread);
}

static void tasks_end(struct oteltop_watched *watched)
{
    for (size_t i = 0; i < watched->count; i++)
        task_end(watched, &watched->tasks[i]);
    free(watched->tasks);
    watched->tasks = NULL;
    watched->count = 0;
    watched->links = 0;
}

/* A thread that began after the last look owes all the time that it has used.
 */
static int task_begin(struct oteltop_watched *watched, pid_t tid, bool is_new,
                      struct oteltop_task *task)
{
    struct otelread_stat stat;

    *task = (struct oteltop_task){.schedstat = -1};
    if (otelread_stat_read(watched->pid, tid, &stat) != 0 || stat.kernels_own)
        return -ESRCH;
    task->thread = oteltop_thread_new(watched->process, tid, stat.command);
    if (!task->thread)
        return -ENOMEM;
    task->state = stat.state;
    task->schedstat =
        oteltop_schedstat_open(watched->report.target.directory, tid);
    if (!is_new && task->schedstat >= 0)
        (void)oteltop_schedstat_read(task->schedstat, &task->now);
    return 0;
}

/* Updates the tasks to the threads in tids. Both are sorted by thread id. */
static int tasks_merge(struct oteltop_watched *watched, const pid_t *tids,
                       size_t count)
{
    struct oteltop_task *const merged = calloc(count + 1, sizeof(*merged));
    struct oteltop_task *known = watched->tasks;
    const struct oteltop_task *const end = known + watched->count;
    const bool is_new = watched->are_known || watched->is_new;
    size_t used = 0;

    if (!merged)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        while (known < end && known->thread->tid < tids[i])
            task_end(watched, known++);
        if (known < end && known->thread->tid == tids[i])
            merged[used++] = *known++;
        else if (task_begin(watched, tids[i], is_new, &merged[used]) == 0)
            used++;
    }
    while (known < end)
        task_end(watched, known++);
    free(watched->tasks);
    watched->tasks = merged;
    watched->count = used;
    return 0;
}

/* /proc/PID/task has one link for each thread. */
static unsigned long links_of(const struct oteltop_watched *watched)
{
    struct stat status;

    return fstatat(watched->report.target.directory, "task", &status, 0) == 0
               ? status.st_nlink
               : 0;
}

static void tasks_list(struct oteltop_watched *watched)
{
    pid_t *tids;
    size_t count;

    watched->links = links_of(watched);
    if (otelread_threads_list(watched->pid, &tids, &count) != 0)
        return;
    (void)tasks_merge(watched, tids, count);
    watched->are_known = true;
    free(tids);
}

/* The threads were not looked at for a while: the time that they used counts
 * for the process. */
static void tasks_forget(struct oteltop_watched *watched)
{
    tasks_end(watched);
    watched->are_known = false;
    watched->is_new = false;
}

/* Lists the main thread for all: only their processor time is known. */
static void tasks_list_main(struct oteltop_watched *watched)
{
    if (watched->count == 0)
        (void)tasks_merge(watched, &watched->pid, 1);
}

/* ---- the process -------------------------------------------------------- */

/* Finds where the threads keep contexts. One storage suffices: the best. */
static void find_contexts(struct oteltop_watched *watched)
{
    struct otelread_report *const report = &watched->report;
    struct otelread_threads *threads = report->threads;

    watched->has_contexts = false;
    if (!threads)
        threads = report->threads = calloc(1, sizeof(*threads));
    if (!threads || otelread_threads_find(threads, &report->target,
                                          report->status == OTELREAD_OK
                                              ? &report->contexts.list[0]
                                              : NULL) != 0)
        return;
    watched->has_tls = threads->has_symbol;
    if (threads->has_symbol) {
        threads->ring.status = OTELREAD_RING_NONE;
        threads->has_profiler = false;
    }
    watched->has_contexts = threads->has_symbol || threads->has_profiler ||
                            threads->ring.status == OTELREAD_RING_OK;
    if (watched->has_contexts)
        otelread_memory_prepare(&report->target); /* detects an exec */
}

static int program_begin(struct oteltop_watched *watched)
{
    struct oteltop_process *const process = oteltop_process_new(watched->pid);

    if (!process)
        return -ENOMEM;
    tasks_end(watched);
    watched->are_known = false;
    if (watched->process) {
        oteltop_ended_add_process(watched->ended, watched->process);
        watched->is_new = false; /* time used before was for another program */
    }
    watched->process = process;
    return 0;
}

static int make(struct oteltop_watched *watched)
{
    struct otelread_report *const report = &watched->report;
    const bool is_other =
        !watched->process || otelread_memory_is_gone(&report->target);

    otelread_report_make(report, watched->pid, OTELREAD_PATIENCE_SHORT);
    if (report->status == OTELREAD_NO_PROCESS)
        return -ESRCH;
    if (is_other && program_begin(watched) != 0)
        return -ENOMEM;
    oteltop_describe_process(watched->process, &report->target);
    if (oteltop_describe_context(watched->process, report) != 0)
        return -ENOMEM;
    return 0;
}

/* Earlier samples keep the description that the process had then. */
static int tasks_move(struct oteltop_watched *watched,
                      struct oteltop_process *process)
{
    for (size_t i = 0; i < watched->count; i++) {
        struct oteltop_task *const task = &watched->tasks[i];
        struct oteltop_thread *const moved =
            oteltop_thread_new(process, task->thread->tid, task->thread->name);

        if (!moved)
            return -ENOMEM;
        moved->number = task->thread->number;
        moved->is_recorded = task->thread->is_recorded;
        oteltop_ended_add_thread(watched->ended, task->thread);
        task->thread = moved;
    }
    return 0;
}

/* Reads the same program's description again. If that has changed, tables count
 * the process as another one; recordings keep its number. */
static int renew(struct oteltop_watched *watched)
{
    struct otelread_report *const report = &watched->report;
    struct oteltop_process *const old = watched->process;
    struct oteltop_process *const renewed = oteltop_process_new(old->pid);
    int error;

    if (!renewed)
        return -ENOMEM;
    otelread_report_update(report, OTELREAD_PATIENCE_SHORT);
    oteltop_describe_process(renewed, &report->target);
    error = report->status == OTELREAD_NO_PROCESS
                ? -ESRCH
                : oteltop_describe_context(renewed, report);
    if (error != 0 || oteltop_process_is_same(renewed, old)) {
        oteltop_process_free(renewed);
        return error;
    }
    renewed->number = old->number;
    renewed->spans = old->spans;
    old->spans = NULL;
    watched->process = renewed;
    error = tasks_move(watched, renewed);
    if (error == 0) /* on an error, tasks still refer to `old` */
        oteltop_ended_add_process(watched->ended, old);
    return error;
}

/* Reads again what may have changed. */
static int renew_if_changed(struct oteltop_watched *watched)
{
    const struct otelread_target *const target = &watched->report.target;
    int error;

    if (!watched->process || otelread_memory_is_gone(target))
        error = make(watched);
    else if (!otelread_report_is_unchanged(&watched->report))
        error = renew(watched);
    else
        return otelread_target_check(target);
    watched->has_contexts = false;
    return error;
}

int oteltop_watched_update(struct oteltop_watched *watched)
{
    const bool is_first = !watched->process;
    const bool had_contexts = watched->has_contexts;
    const int error = renew_if_changed(watched);

    watched->is_stale = false;
    if (error != 0)
        return error;
    if (!watched->has_contexts)
        find_contexts(watched);
    if (watched->has_contexts && !had_contexts && !is_first)
        tasks_forget(watched);
    if (watched->has_contexts)
        tasks_list(watched);
    else
        tasks_list_main(watched);
    if (is_first) {
        (void)oteltop_cpu_of_process(watched->pid, &watched->cpu_ns);
        watched->accounted_ns = watched->is_new ? 0 : watched->cpu_ns;
    }
    return 0;
}

/* ---- looks -------------------------------------------------------------- */

/* A thread that was given no processor is still in the same state. */
static void task_look(struct oteltop_watched *watched,
                      struct oteltop_task *task, bool *has_ended)
{
    struct oteltop_schedstat now;
    struct otelread_stat stat;

    if (task->schedstat < 0) { /* a descriptor may be free by now */
        task->schedstat = oteltop_schedstat_open(
            watched->report.target.directory, task->thread->tid);
        *has_ended |= task->schedstat == -ENOENT;
        if (task->schedstat >= 0)
            (void)oteltop_schedstat_read(task->schedstat, &task->now);
        return;
    }
    if (oteltop_schedstat_read(task->schedstat, &now) != 0) {
        *has_ended = true;
        return;
    }
    if (now.cpu_ns == task->now.cpu_ns && now.slices == task->now.slices)
        return;
    task->cpu_ns += now.cpu_ns - task->now.cpu_ns;
    task->now = now;
    if (otelread_stat_read_at(watched->report.target.directory,
                              task->thread->tid, &stat) == 0)
        task->state = stat.state;
    else
        *has_ended = true;
}

void oteltop_watched_look(struct oteltop_watched *watched, uint64_t passed_ns,
                          bool every)
{
    const uint64_t before_ns = watched->cpu_ns;
    bool has_ended = false;

    if (oteltop_cpu_of_process(watched->pid, &watched->cpu_ns) != 0) {
        watched->has_ended = true;
        return;
    }
    if (!watched->has_contexts)
        return;
    watched->idle_ns =
        watched->cpu_ns == before_ns ? watched->idle_ns + passed_ns : 0;
    if (watched->idle_ns < IDLE_NS) {
        if (links_of(watched) != watched->links)
            tasks_list(watched);
        for (size_t i = 0; i < watched->count; i++)
            task_look(watched, &watched->tasks[i], &has_ended);
        if (has_ended)
            watched->links = 0; /* list the threads again next time */
    }
    for (size_t i = 0; i < watched->count; i++) {
        struct oteltop_task *const task = &watched->tasks[i];

        task->is_due = every || task->state == 'R' || task->state == 'D';
        if (task->is_due)
            task->wall_ns += passed_ns;
    }
}

uint64_t oteltop_watched_unseen(const struct oteltop_watched *watched)
{
    uint64_t seen_ns = watched->accounted_ns;

    for (size_t i = 0; i < watched->count; i++)
        seen_ns += watched->tasks[i].cpu_ns;
    return watched->cpu_ns > seen_ns ? watched->cpu_ns - seen_ns : 0;
}

void oteltop_watched_free(struct oteltop_watched *watched)
{
    tasks_end(watched);
    if (watched->process)
        oteltop_ended_add_process(watched->ended, watched->process);
    otelread_report_free(&watched->report);
}
