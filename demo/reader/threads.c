/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/threads.h"

#include "demo/reader/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 3, 4))) static void
judge(struct otelread_threads *threads, enum otelread_threads_status status,
      const char *format, ...)
{
    va_list arguments;

    threads->status = status;
    va_start(arguments, format);
    (void)vsnprintf(threads->message, sizeof(threads->message), format,
                    arguments);
    va_end(arguments);
}

const char *otelread_threads_status_name(enum otelread_threads_status status)
{
    static const char *const names[] = {
        [OTELREAD_THREADS_OK] = "ok",
        [OTELREAD_THREADS_NO_CONTEXT] = "no_context",
        [OTELREAD_THREADS_NOT_ANNOUNCED] = "not_announced",
        [OTELREAD_THREADS_OTHER_SCHEMA] = "other_schema",
        [OTELREAD_THREADS_NO_SYMBOL] = "no_symbol",
        [OTELREAD_THREADS_UNSUPPORTED] = "unsupported",
        [OTELREAD_THREADS_NO_PERMISSION] = "no_permission",
        [OTELREAD_THREADS_ERROR] = "error",
    };

    return names[status];
}

/* ---- step 1: initialization --------------------------------------------- */

/* Step 1.1. Returns whether there is something to go on with. */
static bool find_map(struct otelread_threads *threads,
                     const struct otelread_report *report)
{
    char why[256];

    if (report->status != OTELREAD_OK) {
        judge(threads,
              report->status == OTELREAD_NO_PERMISSION
                  ? OTELREAD_THREADS_NO_PERMISSION
                  : OTELREAD_THREADS_NO_CONTEXT,
              "%s", report->message);
        return false;
    }

    switch (otelread_keymap_read(&report->contexts[0].decoded.extra,
                                 &threads->map, why, sizeof(why))) {
    case 0:
        judge(threads, OTELREAD_THREADS_OK, "%s", "");
        return true;
    case -ENOENT:
        judge(threads, OTELREAD_THREADS_NOT_ANNOUNCED, "%s", why);
        return false;
    case -EPROTONOSUPPORT:
        judge(threads, OTELREAD_THREADS_OTHER_SCHEMA, "%s", why);
        return false;
    default:
        judge(threads, OTELREAD_THREADS_ERROR, "%s", why);
        return false;
    }
}

/* Step 1.2. Returns 0, or what is wrong. */
static int find_symbol(struct otelread_threads *threads,
                       struct otelread_report *report)
{
    char why[384];
    const int error = otelread_symbol_find(&report->target, &threads->symbol,
                                           why, sizeof(why));

    threads->has_symbol = error == 0;
    if (error == -ENOENT || error == -EAGAIN)
        judge(threads, OTELREAD_THREADS_NO_SYMBOL, "%s", why);
    else if (error == -ENOTSUP)
        judge(threads, OTELREAD_THREADS_UNSUPPORTED, "%s", why);
    else if (error == -EPERM || error == -EACCES)
        judge(threads, OTELREAD_THREADS_NO_PERMISSION, "%s", why);
    else if (error != 0)
        judge(threads, OTELREAD_THREADS_ERROR, "%s", why);
    return error;
}

/* ---- step 2: sampling --------------------------------------------------- */

/* When not one could be read because of permission, that is all to be said. */
static void judge_refusals(struct otelread_threads *threads)
{
    const struct otelread_thread *refused = NULL;

    for (size_t i = threads->count; i-- > 0;) {
        const struct otelread_thread *const thread = &threads->threads[i];

        if (thread->status == OTELREAD_THREAD_NO_PERMISSION)
            refused = thread;
        else if (thread->status != OTELREAD_THREAD_ENDED)
            return;
    }
    if (refused != NULL)
        judge(threads, OTELREAD_THREADS_NO_PERMISSION, "%s", refused->message);
}

static void sample(struct otelread_threads *threads,
                   struct otelread_report *report)
{
    const int error = otelread_sample(threads, report);

    if (error != 0)
        judge(threads, OTELREAD_THREADS_ERROR, "its threads cannot be read: %s",
              strerror(-error));
    else
        judge_refusals(threads);
    if (threads->status != OTELREAD_THREADS_OK)
        threads->count = 0;
}

/* ---- around both -------------------------------------------------------- */

/* The memory that the process has now: an exec leaves it and begins another. */
static int memory_open(pid_t task)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)task);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether it is the one that the context was in. */
static bool memory_has(int memory, const struct otelread_context *context)
{
    char signature[OTELCTX_SIGNATURE_SIZE];

    return pread(memory, signature, sizeof(signature),
                 (off_t)context->mapping.start) == sizeof(signature) &&
           memcmp(signature, OTELCTX_SIGNATURE, sizeof(signature)) == 0;
}

/* Of memory that is gone there is an end; at a hole there is an error. */
static bool memory_is_gone(int memory)
{
    char byte;

    return pread(memory, &byte, 1, 0) == 0;
}

static int begin_again(struct otelread_threads *threads,
                       enum otelread_threads_status status, const char *why)
{
    threads->count = 0;
    judge(threads, status, "%s", why);
    return -EAGAIN;
}

/* Returns 0 or -EAGAIN. */
static int read_in(int memory, struct otelread_threads *threads,
                   struct otelread_report *report)
{
    static const char other[] = "it began another program meanwhile";

    if (memory >= 0 && !memory_has(memory, &report->contexts[0]))
        return begin_again(threads, OTELREAD_THREADS_ERROR, other);

    /* Either it is ending, or only the thread that it was read by. */
    const int error = find_symbol(threads, report);
    if (error == -ESRCH)
        return begin_again(threads, OTELREAD_THREADS_NO_CONTEXT,
                           "it has no memory any more");
    if (error == 0)
        sample(threads, report);
    if (memory >= 0 && memory_is_gone(memory))
        return begin_again(threads, OTELREAD_THREADS_ERROR, other);
    return 0;
}

int otelread_threads_read(struct otelread_report *report, bool stop)
{
    struct otelread_threads *const threads = calloc(1, sizeof(*threads));

    report->threads = threads;
    if (threads == NULL) {
        otelread_report_judge(report, OTELREAD_ERROR, "out of memory");
        return 0;
    }
    threads->stop = stop;
    if (!find_map(threads, report))
        return 0;

    const int memory = memory_open(report->target.task);
    const int result = read_in(memory, threads, report);
    if (memory >= 0)
        (void)close(memory);
    return result;
}

void otelread_threads_free(struct otelread_threads *threads)
{
    if (threads == NULL)
        return;
    otelread_context_free(&threads->renewed);
    free(threads->threads);
    free(threads);
}

enum otelread_status
otelread_threads_conclude(const struct otelread_report *report)
{
    const struct otelread_threads *const threads = report->threads;

    if (report->status != OTELREAD_OK || threads == NULL)
        return report->status;
    if (threads->status == OTELREAD_THREADS_ERROR)
        return OTELREAD_ERROR;
    return threads->status == OTELREAD_THREADS_NO_PERMISSION
               ? OTELREAD_NO_PERMISSION
               : OTELREAD_OK;
}
