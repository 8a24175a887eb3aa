/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/report.h"

#include "demo/base/escape.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/report/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void judge_error(struct otelread_report *report, int error)
{
    if (error == -ESRCH)
        otelread_judge(report, OTELREAD_NO_PROCESS, "%s",
                       report->target.found ? "the process has ended"
                                            : "no such process");
    else if (error == -EACCES || error == -EPERM)
        otelread_judge(
            report, OTELREAD_NO_PERMISSION,
            "no permission to read its memory (root, or CAP_SYS_PTRACE, has)");
    else if (error == -ETIMEDOUT)
        otelread_judge(report, OTELREAD_BUSY, OTELREAD_SILENT);
    else
        otelread_judge(report, OTELREAD_ERROR, "cannot be read: %s",
                       strerror(-error));
}

/* The one context is at fault: where it is, and why. */
static void judge_one(struct otelread_report *report,
                      const struct otelread_context *context)
{
    char name[128];

    otelbase_escape_copy(name, sizeof(name), context->mapping.name,
                         strlen(context->mapping.name));
    otelread_judge(
        report, context->status, "%s \"%s\" at 0x%llx: %s",
        context->status == OTELREAD_BUSY ? "the context in" : "the mapping",
        name, (unsigned long long)context->mapping.start, context->message);
}

/* How many there are, and the first that could not be read. */
static void judge_several(struct otelread_report *report)
{
    const struct otelread_contexts *const contexts = &report->contexts;
    const size_t count = contexts->count + contexts->unread;
    const struct otelread_context *bad = NULL;

    for (size_t i = contexts->count; i-- > 0;) {
        if (contexts->list[i].status != OTELREAD_OK)
            bad = &contexts->list[i];
    }
    if (bad)
        otelread_judge(
            report, OTELREAD_SEVERAL,
            "%zu contexts, there must be only one; the one at 0x%llx: %s",
            count, (unsigned long long)bad->mapping.start, bad->message);
    else
        otelread_judge(report, OTELREAD_SEVERAL,
                       "%zu contexts, there must be only one", count);
}

static void judge_contexts(struct otelread_report *report)
{
    if (report->contexts.count > 1)
        judge_several(report);
    else if (report->contexts.list[0].status == OTELREAD_OK)
        otelread_judge(report, OTELREAD_OK, "%s", "");
    else
        judge_one(report, &report->contexts.list[0]);
}

/* Returns 0, or an error to judge; -EFAULT and -ENOENT: try once more. */
static int find_and_read(struct otelread_report *report,
                         struct otelread_patience patience)
{
    struct otelread_contexts *const contexts = &report->contexts;
    int error = otelread_contexts_find(contexts, &report->target, patience);

    if (error != 0)
        return error;
    if (contexts->count == 0) {
        otelread_judge(report, OTELREAD_NO_CONTEXT, "no process context%s",
                       contexts->no_memory ? ": it has no memory" : "");
        return 0;
    }
    if (otelread_contexts_established(contexts))
        error = otelread_contexts_read(contexts, &report->target, patience);
    if (error == 0)
        judge_contexts(report);
    return error;
}

static bool is_moved(int error)
{
    return error == -EFAULT || error == -ENOENT;
}

static void contexts_free(struct otelread_report *report)
{
    otelread_target_trim(&report->target);
    otelread_contexts_free(&report->contexts);
    otelread_threads_free(report->threads);
    report->threads = NULL;
}

void otelread_report_check(struct otelread_report *report)
{
    if (otelread_target_check(&report->target) == 0)
        return;
    contexts_free(report);
    otelread_judge(report, OTELREAD_NO_PROCESS,
                   "the process ended while it was being read");
}

void otelread_report_make(struct otelread_report *report, pid_t pid,
                          struct otelread_patience patience)
{
    int error = -EFAULT;

    /* Twice, because an exec or a drop may come in between. */
    for (int i = 0; i < 2 && is_moved(error); i++) {
        contexts_free(report);
        report->contexts.no_memory = false;
        otelread_target_close(&report->target);
        error = otelread_target_open(&report->target, pid);
        if (error == 0)
            error = find_and_read(report, patience);
    }

    /* Some kernels return ESRCH for the maps of a thread without memory. */
    if (error == -ESRCH && report->target.found && report->target.task != 0 &&
        otelread_target_check(&report->target) == 0) {
        report->contexts.no_memory = true;
        otelread_judge(report, OTELREAD_NO_CONTEXT,
                       "no process context: it has no memory");
    } else if (is_moved(error))
        otelread_judge(report, OTELREAD_BUSY,
                       "its context moves faster than it can be read");
    else if (error != 0)
        judge_error(report, error);
    else
        otelread_report_check(report);
    if (error != 0)
        contexts_free(report);
}

void otelread_report_update(struct otelread_report *report,
                            struct otelread_patience patience)
{
    struct otelread_contexts *const contexts = &report->contexts;

    if (!otelread_contexts_established(contexts) ||
        otelread_contexts_read(contexts, &report->target, patience) != 0) {
        otelread_report_make(report, report->target.pid, patience);
        return;
    }
    judge_contexts(report);
    otelread_report_check(report);
}

bool otelread_report_is_unchanged(struct otelread_report *report)
{
    for (size_t i = 0; i < report->contexts.count; i++) {
        const struct otelread_context *const context =
            &report->contexts.list[i];
        uint64_t now;

        if (context->status == OTELREAD_BUSY ||
            otelread_memory_read_mapping(
                &report->target, &context->mapping,
                context->mapping.start +
                    offsetof(struct otelctx_header, published_at_ns),
                &now, sizeof(now)) != 0 ||
            now != otelread_context_stamp(context))
            return false;
    }
    return otelread_contexts_established(&report->contexts);
}

int otelread_report_read_threads(struct otelread_report *report, bool stop)
{
    struct otelread_threads *threads = report->threads;

    if (!threads)
        threads = report->threads = calloc(1, sizeof(*threads));
    if (!threads) {
        otelread_judge(report, OTELREAD_ERROR, "out of memory");
        return 0;
    }
    threads->manner = stop ? OTELREAD_STOPPED : OTELREAD_AS_IT_RUNS;
    if (report->status == OTELREAD_OK)
        return otelread_threads_read(threads, &report->target,
                                     &report->contexts.list[0]);

    otelread_judge(threads,
                   report->status == OTELREAD_NO_PERMISSION
                       ? OTELREAD_THREADS_NO_PERMISSION
                       : OTELREAD_THREADS_NO_CONTEXT,
                   "%s", report->message);
    return report->target.found && report->status != OTELREAD_NO_PROCESS &&
                   report->status != OTELREAD_NO_PERMISSION &&
                   !report->contexts.no_memory
               ? otelread_threads_read(threads, &report->target, NULL)
               : 0;
}

enum otelread_status
otelread_report_exit_status(const struct otelread_report *report)
{
    const struct otelread_threads *const threads = report->threads;

    if (report->status != OTELREAD_OK || !threads)
        return report->status;
    if (threads->status == OTELREAD_THREADS_ERROR)
        return OTELREAD_ERROR;
    if (threads->status == OTELREAD_THREADS_BUSY || threads->silent)
        return OTELREAD_BUSY;
    return threads->status == OTELREAD_THREADS_NO_PERMISSION
               ? OTELREAD_NO_PERMISSION
               : OTELREAD_OK;
}

void otelread_report_trim(struct otelread_report *report)
{
    otelread_target_trim(&report->target);
    otelread_contexts_trim(&report->contexts);
}

void otelread_report_free(struct otelread_report *report)
{
    contexts_free(report);
    otelread_target_close(&report->target);
    *report = (struct otelread_report){.status = OTELREAD_OK};
}
