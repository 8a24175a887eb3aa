/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/thread.h"

#include "demo/reader/os/memory.h"
#include "demo/reader/os/pointer.h"
#include "demo/reader/os/task_status.h"
#include "demo/reader/os/tracee.h"
#include "demo/reader/report/judge.h"
#include "demo/reader/report/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * How often to stop a thread whose memory is not resident. One record takes up
 * to five reads, but between the stops the thread may attach another one.
 */
#define STOPS_MAX 16

/* How often to read a running thread until it was the same twice. */
#define TRIES 20

const char *otelread_thread_status_name(enum otelread_thread_status status)
{
    static const char *const names[] = {
        [OTELREAD_THREAD_ATTACHED] = "attached",
        [OTELREAD_THREAD_DETACHED] = "detached",
        [OTELREAD_THREAD_INVALID] = "invalid",
        [OTELREAD_THREAD_UNTOUCHED] = "untouched",
        [OTELREAD_THREAD_MALFORMED] = "malformed",
        [OTELREAD_THREAD_UNREADABLE] = "unreadable",
        [OTELREAD_THREAD_ENDED] = "ended",
        [OTELREAD_THREAD_NOT_STOPPED] = "not_stopped",
        [OTELREAD_THREAD_NO_PERMISSION] = "no_permission",
        [OTELREAD_THREAD_BUSY] = "busy",
        [OTELREAD_THREAD_ERROR] = "error",
        [OTELREAD_THREAD_NO_TLS] = "no_tls",
    };

    return names[status];
}

/* ---- what it says ------------------------------------------------------ */

/* Whatever fails with ESRCH: the thread has ended. */
static void judge_error(struct otelread_thread *thread,
                        enum otelread_thread_status status, const char *what,
                        int error)
{
    if (error == -ESRCH)
        otelread_judge(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (error == -ETIMEDOUT)
        otelread_judge(thread, OTELREAD_THREAD_BUSY, OTELREAD_SILENT);
    else
        otelread_judge(thread, status, "%s: %s", what, strerror(-error));
}

static void judge_slot(struct otelread_thread *thread, int error,
                       uint64_t pointer)
{
    if (error == -ENODATA)
        otelread_judge(thread, OTELREAD_THREAD_UNTOUCHED, "%s", "");
    else if (error == -EFAULT)
        otelread_judge(thread, OTELREAD_THREAD_ERROR,
                       "its thread pointer, 0x%" PRIx64
                       ", leads to nothing that can be read",
                       pointer);
    else
        judge_error(thread, OTELREAD_THREAD_ERROR,
                    "its variable cannot be read", error);
}

static void judge_snapshot(struct otelread_thread *thread,
                           const struct otelread_snapshot *snapshot,
                           const struct otelread_places *places,
                           uint64_t pointer)
{
    thread->record = snapshot->record;
    thread->has_record = snapshot->record.address != 0;
    otelread_storages_judge(&thread->storages, snapshot, places);
    if (!places->tls)
        otelread_judge(thread, OTELREAD_THREAD_NO_TLS, "%s", "");
    else if (snapshot->slot_error != 0)
        judge_slot(thread, snapshot->slot_error, pointer);
    else if (!thread->has_record)
        otelread_judge(thread, OTELREAD_THREAD_DETACHED, "%s", "");
    else if (snapshot->head_error != 0)
        judge_error(thread, OTELREAD_THREAD_UNREADABLE,
                    "its record cannot be read", snapshot->head_error);
    else
        otelread_judge(thread, OTELREAD_THREAD_ATTACHED, "%s", "");
}

/* ---- stopped ------------------------------------------------------------ */

/* The kernel refuses a thread that is ending like one that is forbidden. */
static void judge_refusal(struct otelread_thread *thread, pid_t pid)
{
    struct otelread_stat stat;

    /* 0: none, or in another pid namespace */
    thread->tracer = otelread_task_status(pid, thread->tid, "TracerPid:");
    if (otelread_stat_read(pid, thread->tid, &stat) != 0 || stat.ended)
        otelread_judge(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (thread->tracer != 0)
        otelread_judge(thread, OTELREAD_THREAD_NO_PERMISSION,
                       "it is being traced by PID %d", (int)thread->tracer);
    else
        otelread_judge(thread, OTELREAD_THREAD_NO_PERMISSION,
                       "no permission to stop it");
}

static void judge_not_stopped(struct otelread_thread *thread, pid_t pid,
                              struct otelread_limit limit)
{
    struct otelread_stat stat;

    if (otelread_stat_read(pid, thread->tid, &stat) != 0 || stat.ended)
        otelread_judge(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else
        otelread_judge(thread, OTELREAD_THREAD_NOT_STOPPED,
                       "it did not stop within %" PRIu64
                       " ms (its state is %c)",
                       limit.ns / 1000000, stat.state);
}

static void judge_stop(struct otelread_thread *thread, pid_t pid, int error,
                       struct otelread_limit limit)
{
    if (error == -EPERM || error == -EACCES)
        judge_refusal(thread, pid);
    else if (error == -ETIMEDOUT)
        judge_not_stopped(thread, pid, limit);
    else
        judge_error(thread, OTELREAD_THREAD_ERROR, "it cannot be stopped",
                    error);
}

static bool release(struct otelread_thread *thread,
                    struct otelread_tracee *tracee)
{
    uint64_t stopped_ns;

    if (otelread_tracee_release(tracee, &stopped_ns) != 0)
        return false;
    if (stopped_ns > thread->stopped_ns)
        thread->stopped_ns = stopped_ns;
    return true;
}

static void judge_no_pointer(struct otelread_thread *thread, int error);

/* It was asked to stop, and has not: see otelread_tracee_is_quiet(). */
static void read_quiet(struct otelread_thread *thread,
                       struct otelread_target *target,
                       const struct otelread_places *places,
                       const struct otelread_tracee *tracee,
                       struct otelread_limit limit)
{
    struct otelread_snapshot snapshot;
    uint64_t pointer = 0;
    const int error = otelread_pointer_running(target, thread->tid, &pointer);

    if (error != 0) {
        judge_no_pointer(thread, error);
        return;
    }
    otelread_snapshot_take(&snapshot, target, places, pointer,
                           thread->storages.inside);
    thread->was_quiet = otelread_tracee_is_quiet(tracee);
    if (thread->was_quiet)
        judge_snapshot(thread, &snapshot, places, pointer);
    else
        judge_stop(thread, target->pid, -ETIMEDOUT, limit);
}

/*
 * Between stop and release, do only what needs a stopped thread, and nothing
 * that may block. The profiler's variable has a checksum, so it is read
 * afterwards, unless it is known to have a context: then both are compared, and
 * have to be of one moment.
 */
static bool stop_and_read(struct otelread_thread *thread,
                          struct otelread_target *target,
                          const struct otelread_places *places,
                          struct otelread_limit limit)
{
    const bool waits = places->profiler && !thread->has_profiler;
    struct otelread_places of_stop = *places;
    struct otelread_tracee tracee;
    struct otelread_snapshot snapshot;
    uint64_t pointer = 0;

    if (waits)
        of_stop.profiler = NULL;
    int error = otelread_tracee_stop(&tracee, thread->tid, limit);
    if (error == -ETIMEDOUT && limit.busy_ns == 0) {
        read_quiet(thread, target, places, &tracee, limit);
        return tracee.held;
    }
    if (error != 0) {
        judge_stop(thread, target->pid, error, limit);
        return tracee.held;
    }

    error = otelread_pointer_stopped(thread->tid, &pointer);
    if (error == 0)
        otelread_snapshot_take(&snapshot, target, &of_stop, pointer,
                               thread->storages.inside);
    thread->stopped = release(thread, &tracee);

    if (error == 0 && waits)
        otelread_snapshot_take_profiler(&snapshot, target, places->profiler,
                                        pointer);
    if (error == 0)
        judge_snapshot(thread, &snapshot, places, pointer);
    else
        judge_error(thread, OTELREAD_THREAD_ERROR,
                    "its registers cannot be read", error);
    return tracee.held;
}

bool otelread_thread_read_stopped(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_places *places,
                                  struct otelread_limit limit)
{
    bool held = false;

    target->only_resident = true;
    target->missing = (struct otelread_missing){.error = 0};
    for (int i = 0; i < STOPS_MAX; i++) {
        held = stop_and_read(thread, target, places, limit);
        if (held)
            break;
        if (target->missing.error == -EAGAIN) {
            otelread_judge(thread, OTELREAD_THREAD_BUSY,
                           "its memory does not stay");
            otelread_memory_fetch(target);
        } else if (!thread->has_profiler &&
                   otelread_profiled_has(thread->storages.profiler_status)) {
            thread->has_profiler = true;
        } else {
            break;
        }
    }
    target->only_resident = false;
    return held;
}

/* ---- running ------------------------------------------------------------ */

static void judge_no_pointer(struct otelread_thread *thread, int error)
{
    if (error == -ESRCH || error == -ETIMEDOUT)
        judge_error(thread, OTELREAD_THREAD_ERROR, "", error);
    else if (error == -EPERM || error == -EACCES)
        otelread_judge(thread, OTELREAD_THREAD_NO_PERMISSION,
                       "no permission to find its thread pointer");
    else
        otelread_judge(thread, OTELREAD_THREAD_ERROR,
                       "cannot find its thread pointer without stopping it");
}

/* Otherwise another thread may have reused its memory. */
static bool is_still_there(const struct otelread_thread *thread,
                           struct otelread_target *target, uint64_t pointer)
{
    uint64_t now = 0;

    return otelread_pointer_running(target, thread->tid, &now) == 0 &&
           now == pointer;
}

void otelread_thread_read_running(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_places *places)
{
    uint64_t pointer = 0;
    struct otelread_snapshot snapshots[2];
    bool same = false;

    const int error = otelread_pointer_running(target, thread->tid, &pointer);
    if (error != 0) {
        judge_no_pointer(thread, error);
        return;
    }

    otelread_snapshot_take(&snapshots[0], target, places, pointer,
                           thread->storages.inside);
    for (unsigned i = 1; i < TRIES && !same; i++) {
        otelread_snapshot_take(&snapshots[i % 2], target, places, pointer,
                               thread->storages.inside);
        same = otelread_snapshot_is_same(&snapshots[0], &snapshots[1]);
    }
    if (!is_still_there(thread, target, pointer))
        otelread_judge(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (same)
        judge_snapshot(thread, &snapshots[0], places, pointer);
    else
        otelread_judge(thread, OTELREAD_THREAD_ERROR,
                       "its context kept changing while it was read");
}

void otelread_thread_read_ring(struct otelread_thread *thread,
                               struct otelread_target *target,
                               const struct otelread_places *places)
{
    const struct otelread_places ring = {.ring = places->ring};
    struct otelread_snapshot snapshot;

    otelread_snapshot_take(&snapshot, target, &ring, 0,
                           thread->storages.inside);
    otelread_storages_judge(&thread->storages, &snapshot, &ring);
}

/* ---- what it means ------------------------------------------------------ */

static uint64_t number_of(const uint8_t *bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < sizeof(number); i++)
        number = number << 8 | bytes[i];
    return number;
}

bool otelread_thread_disagrees(struct otelread_thread *thread)
{
    const struct otelctx_record_head *const head = &thread->record.head;
    struct otelread_opinion tls = {
        .counts = thread->status == OTELREAD_THREAD_ATTACHED ||
                  thread->status == OTELREAD_THREAD_DETACHED ||
                  thread->status == OTELREAD_THREAD_UNTOUCHED};

    if (thread->status == OTELREAD_THREAD_ATTACHED && head->valid == 1) {
        tls.trace_high = number_of(head->trace_id);
        tls.trace_low = number_of(head->trace_id + 8);
        tls.span = number_of(head->span_id);
    }
    return otelread_storages_disagree(&thread->storages, &tls);
}

bool otelread_thread_is_attached(const struct otelread_thread *thread)
{
    return thread->status == OTELREAD_THREAD_ATTACHED ||
           thread->status == OTELREAD_THREAD_MALFORMED;
}

bool otelread_thread_interpret(struct otelread_thread *thread,
                               const struct otelread_keymap *map)
{
    static const enum otelread_thread_status statuses[] = {
        [OTELREAD_RECORD_VALID] = OTELREAD_THREAD_ATTACHED,
        [OTELREAD_RECORD_INVALID] = OTELREAD_THREAD_INVALID,
        [OTELREAD_RECORD_MALFORMED] = OTELREAD_THREAD_MALFORMED,
    };
    struct otelread_meaning *const meaning = &thread->meaning;

    if (!otelread_thread_is_attached(thread))
        return false;
    otelread_meaning_free(meaning);
    if (otelread_record_decode(&thread->record, map, meaning, thread->message,
                               sizeof(thread->message)) != 0)
        otelread_judge(thread, OTELREAD_THREAD_ERROR, "out of memory");
    else
        thread->status = statuses[meaning->verdict];
    return meaning->unknown_keys;
}

void otelread_thread_free(struct otelread_thread *thread)
{
    otelread_meaning_free(&thread->meaning);
}
