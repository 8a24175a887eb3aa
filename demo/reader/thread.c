/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/thread.h"

#include "demo/reader/pointer.h"
#include "demo/reader/tracee.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often to read a running thread until it was the same twice. */
#define TRIES 20

/* One look at a thread's memory. What was not read is zero. */
struct look {
    int slot_error;
    int head_error;
    struct otelread_record record;
};

void otelread_thread_say(struct otelread_thread *thread,
                         enum otelread_thread_status status, const char *format,
                         ...)
{
    va_list arguments;

    thread->status = status;
    va_start(arguments, format);
    (void)vsnprintf(thread->message, sizeof(thread->message), format,
                    arguments);
    va_end(arguments);
}

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
        [OTELREAD_THREAD_ERROR] = "error",
    };

    return names[status];
}

/* ---- a look at its memory ----------------------------------------------- */

static int slot_read(struct otelread_target *target,
                     const struct otelread_symbol *symbol, uint64_t pointer,
                     uint64_t *record)
{
    uint64_t slot = 0;
    const int error = otelread_symbol_address(target, symbol, pointer, &slot);

    if (error != 0)
        return error;
    return otelread_target_read(target, slot, record, sizeof(*record));
}

/* OTEP 4947, "Thread Sampling": the pointer, 28 bytes, then the attributes. */
static void look_take(struct look *look, struct otelread_target *target,
                      const struct otelread_symbol *symbol, uint64_t pointer)
{
    struct otelread_record *const record = &look->record;

    *look = (struct look){.slot_error = 0};
    look->slot_error = slot_read(target, symbol, pointer, &record->address);
    if (look->slot_error != 0 || record->address == 0)
        return;
    look->head_error = otelread_target_read(
        target, record->address, &record->head, sizeof(record->head));
    if (look->head_error != 0 || record->head.valid != 1)
        return;

    const size_t size = otelread_record_attrs_size(&record->head);
    record->attrs_missing =
        size > 0 &&
        otelread_target_read(target, record->address + sizeof(record->head),
                             record->attrs, size) != 0;
    if (record->attrs_missing)
        (void)memset(record->attrs, 0, sizeof(record->attrs));
}

/* What fails because the thread has gone is its end, no matter what it was. */
static void say_error(struct otelread_thread *thread,
                      enum otelread_thread_status status, const char *what,
                      int error)
{
    if (error == -ESRCH)
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else
        otelread_thread_say(thread, status, "%s: %s", what, strerror(-error));
}

static void say_slot(struct otelread_thread *thread, int error,
                     uint64_t pointer)
{
    if (error == -ENODATA)
        otelread_thread_say(thread, OTELREAD_THREAD_UNTOUCHED, "%s", "");
    else if (error == -EFAULT)
        otelread_thread_say(thread, OTELREAD_THREAD_ERROR,
                            "its thread pointer, 0x%" PRIx64
                            ", leads to nothing that can be read",
                            pointer);
    else
        say_error(thread, OTELREAD_THREAD_ERROR, "its variable cannot be read",
                  error);
}

static void say_look(struct otelread_thread *thread, const struct look *look,
                     uint64_t pointer)
{
    thread->record = look->record;
    thread->has_record = look->record.address != 0;
    if (look->slot_error != 0)
        say_slot(thread, look->slot_error, pointer);
    else if (!thread->has_record)
        otelread_thread_say(thread, OTELREAD_THREAD_DETACHED, "%s", "");
    else if (look->head_error != 0)
        say_error(thread, OTELREAD_THREAD_UNREADABLE,
                  "its record cannot be read", look->head_error);
    else
        otelread_thread_say(thread, OTELREAD_THREAD_ATTACHED, "%s", "");
}

/* ---- stopped ------------------------------------------------------------ */

/* Who traces it already, by number in our namespace; 0: nobody, or unseen. */
static pid_t tracer_of(pid_t pid, pid_t tid)
{
    static const char key[] = "TracerPid:";
    char path[64];
    char line[256];
    pid_t tracer = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
                   (int)tid);
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, sizeof(key) - 1) == 0)
            tracer = (pid_t)strtol(line + sizeof(key) - 1, NULL, 10);
    }
    (void)fclose(file);
    return tracer;
}

/* A thread that is ending is refused like one that is not ours to trace. */
static void say_refused(struct otelread_thread *thread, pid_t pid)
{
    struct otelread_stat stat;

    thread->tracer = tracer_of(pid, thread->tid);
    if (otelread_stat_read(pid, thread->tid, &stat) != 0 || stat.ended)
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (thread->tracer != 0)
        otelread_thread_say(thread, OTELREAD_THREAD_NO_PERMISSION,
                            "it is being traced by PID %d",
                            (int)thread->tracer);
    else
        otelread_thread_say(thread, OTELREAD_THREAD_NO_PERMISSION,
                            "no permission to stop it");
}

static void say_not_stopped(struct otelread_thread *thread, pid_t pid,
                            uint64_t limit_ns)
{
    struct otelread_stat stat;

    if (otelread_stat_read(pid, thread->tid, &stat) != 0 || stat.ended)
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else
        otelread_thread_say(thread, OTELREAD_THREAD_NOT_STOPPED,
                            "it did not stop within %" PRIu64
                            " ms (its state is %c)",
                            limit_ns / 1000000, stat.state);
}

/* Between stop and release nothing but what cannot be done at another time. */
bool otelread_thread_read_stopped(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_symbol *symbol,
                                  uint64_t limit_ns)
{
    struct otelread_tracee tracee;
    struct look look;
    uint64_t pointer = 0;

    int error = otelread_tracee_stop(&tracee, thread->tid, limit_ns);
    if (error == -EPERM || error == -EACCES)
        say_refused(thread, target->pid);
    else if (error == -ETIMEDOUT)
        say_not_stopped(thread, target->pid, limit_ns);
    else if (error != 0)
        say_error(thread, OTELREAD_THREAD_ERROR, "it cannot be stopped", error);
    if (error != 0)
        return tracee.held;

    error = otelread_pointer_stopped(thread->tid, &pointer);
    if (error == 0)
        look_take(&look, target, symbol, pointer);
    thread->stopped =
        otelread_tracee_release(&tracee, &thread->stopped_ns) == 0;

    if (error == 0)
        say_look(thread, &look, pointer);
    else
        say_error(thread, OTELREAD_THREAD_ERROR, "its registers cannot be read",
                  error);
    return tracee.held;
}

/* ---- running ------------------------------------------------------------ */

static bool look_is_same(const struct look *a, const struct look *b)
{
    return a->slot_error == b->slot_error && a->head_error == b->head_error &&
           a->record.address == b->record.address &&
           a->record.attrs_missing == b->record.attrs_missing &&
           memcmp(&a->record.head, &b->record.head, sizeof(a->record.head)) ==
               0 &&
           memcmp(a->record.attrs, b->record.attrs, sizeof(a->record.attrs)) ==
               0;
}

static void say_unfound(struct otelread_thread *thread, int error)
{
    if (error == -ESRCH)
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (error == -EPERM || error == -EACCES)
        otelread_thread_say(thread, OTELREAD_THREAD_NO_PERMISSION,
                            "no permission to find its thread pointer");
    else
        otelread_thread_say(
            thread, OTELREAD_THREAD_ERROR,
            "cannot find its thread pointer without stopping it");
}

/* If not, another thread may have got its memory. */
static bool is_still_there(const struct otelread_thread *thread,
                           struct otelread_target *target, uint64_t pointer)
{
    uint64_t now = 0;

    return otelread_pointer_running(target, thread->tid, &now) == 0 &&
           now == pointer;
}

void otelread_thread_read_running(struct otelread_thread *thread,
                                  struct otelread_target *target,
                                  const struct otelread_symbol *symbol)
{
    uint64_t pointer = 0;
    struct look looks[2];
    bool same = false;

    const int error = otelread_pointer_running(target, thread->tid, &pointer);
    if (error != 0) {
        say_unfound(thread, error);
        return;
    }

    look_take(&looks[0], target, symbol, pointer);
    for (unsigned i = 1; i < TRIES && !same; i++) {
        look_take(&looks[i % 2], target, symbol, pointer);
        same = look_is_same(&looks[0], &looks[1]);
    }
    if (!is_still_there(thread, target, pointer))
        otelread_thread_say(thread, OTELREAD_THREAD_ENDED, "%s", "");
    else if (same)
        say_look(thread, &looks[0], pointer);
    else
        otelread_thread_say(thread, OTELREAD_THREAD_ERROR,
                            "its context kept changing while it was read");
}

/* ---- what it means ------------------------------------------------------ */

bool otelread_thread_is_attached(const struct otelread_thread *thread)
{
    return thread->status == OTELREAD_THREAD_ATTACHED ||
           thread->status == OTELREAD_THREAD_MALFORMED;
}

void otelread_thread_judge(struct otelread_thread *thread,
                           const struct otelread_meaning *meaning)
{
    static const enum otelread_thread_status statuses[] = {
        [OTELREAD_RECORD_VALID] = OTELREAD_THREAD_ATTACHED,
        [OTELREAD_RECORD_INVALID] = OTELREAD_THREAD_INVALID,
        [OTELREAD_RECORD_MALFORMED] = OTELREAD_THREAD_MALFORMED,
    };

    otelread_thread_say(thread, statuses[meaning->verdict], "%s", meaning->why);
}
