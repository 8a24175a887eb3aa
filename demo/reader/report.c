/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report.h"

#include "demo/reader/escape.h"
#include "demo/reader/locate.h"
#include "demo/reader/threads.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void otelread_report_judge(struct otelread_report *report,
                           enum otelread_status status, const char *format, ...)
{
    va_list arguments;

    report->status = status;
    va_start(arguments, format);
    (void)vsnprintf(report->message, sizeof(report->message), format,
                    arguments);
    va_end(arguments);
}

static void judge_error(struct otelread_report *report, int error)
{
    if (error == -ESRCH)
        otelread_report_judge(report, OTELREAD_NO_PROCESS, "%s",
                              report->target.found ? "the process has ended"
                                                   : "no such process");
    else if (error == -EACCES || error == -EPERM)
        otelread_report_judge(
            report, OTELREAD_NO_PERMISSION,
            "no permission to read its memory (root, or CAP_SYS_PTRACE, has)");
    else
        otelread_report_judge(report, OTELREAD_ERROR, "cannot be read: %s",
                              strerror(-error));
}

/* Where the context is, and what it has to say about itself. */
static void judge_one(struct otelread_report *report,
                      const struct otelread_context *context)
{
    char name[128];

    otelread_escape_copy(name, sizeof(name), context->mapping.name,
                         strlen(context->mapping.name));
    otelread_report_judge(
        report, context->status, "%s \"%s\" at 0x%llx: %s",
        context->status == OTELREAD_BUSY ? "the context in" : "the mapping",
        name, (unsigned long long)context->mapping.start, context->why);
}

/* One message for all: how many, and the first that could not be read. */
static void judge_several(struct otelread_report *report)
{
    const size_t count = report->count + report->uncounted;
    const struct otelread_context *bad = NULL;

    for (size_t i = report->count; i-- > 0;) {
        if (report->contexts[i].status != OTELREAD_OK)
            bad = &report->contexts[i];
    }
    if (bad != NULL)
        otelread_report_judge(
            report, OTELREAD_SEVERAL,
            "%zu contexts, there must be only one; the one at 0x%llx: %s",
            count, (unsigned long long)bad->mapping.start, bad->why);
    else
        otelread_report_judge(report, OTELREAD_SEVERAL,
                              "%zu contexts, there must be only one", count);
}

static void judge_contexts(struct otelread_report *report)
{
    if (report->count > 1)
        judge_several(report);
    else if (report->contexts[0].status == OTELREAD_OK)
        otelread_report_judge(report, OTELREAD_OK, "%s", "");
    else
        judge_one(report, &report->contexts[0]);
}

static int read_contexts(struct otelread_report *report,
                         struct otelread_patience patience)
{
    for (size_t i = 0; i < report->count; i++) {
        const int error = otelread_context_read(&report->target, patience,
                                                &report->contexts[i]);

        if (error != 0)
            return error;
    }
    return 0;
}

/* Returns 0, or an error to judge; -EFAULT and -ENOENT: try once more. */
static int find_and_read(struct otelread_report *report,
                         struct otelread_patience patience)
{
    int error = otelread_locate(report, patience);

    if (error != 0)
        return error;
    if (report->count == 0) {
        otelread_report_judge(report, OTELREAD_NO_CONTEXT,
                              "no process context%s",
                              report->no_memory ? ": it has no memory" : "");
        return 0;
    }
    if (report->contexts[0].established)
        error = read_contexts(report, patience);
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
    otelread_report_trim(report);
    otelread_threads_free(report->threads);
    report->threads = NULL;
    report->count = 0;
    report->uncounted = 0;
}

void otelread_report_check(struct otelread_report *report)
{
    if (otelread_target_check(&report->target) == 0)
        return;
    contexts_free(report);
    otelread_report_judge(report, OTELREAD_NO_PROCESS,
                          "the process ended while it was being read");
}

void otelread_report_make(struct otelread_report *report, pid_t pid,
                          struct otelread_patience patience)
{
    int error = -EFAULT;

    /* The second time when an exec or a drop came in between. */
    for (int i = 0; i < 2 && is_moved(error); i++) {
        contexts_free(report);
        report->no_memory = false;
        otelread_target_close(&report->target);
        error = otelread_target_open(&report->target, pid);
        if (error == 0)
            error = find_and_read(report, patience);
    }

    /* Some kernels say ESRCH for the maps of a thread without memory. */
    if (error == -ESRCH && report->target.found && report->target.task != 0 &&
        otelread_target_check(&report->target) == 0) {
        report->no_memory = true;
        otelread_report_judge(report, OTELREAD_NO_CONTEXT,
                              "no process context: it has no memory");
    } else if (is_moved(error))
        otelread_report_judge(report, OTELREAD_BUSY,
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
    if (report->count == 0 || !report->contexts[0].established ||
        read_contexts(report, patience) != 0) {
        otelread_report_make(report, report->target.pid, patience);
        return;
    }
    judge_contexts(report);
    otelread_report_check(report);
}

void otelread_report_trim(struct otelread_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        otelread_context_free(&report->contexts[i]);
    if (report->count == 0) {
        free(report->contexts);
        report->contexts = NULL;
    }
}

void otelread_report_free(struct otelread_report *report)
{
    contexts_free(report);
    otelread_target_close(&report->target);
    free(report->contexts);
    *report = (struct otelread_report){.count = 0};
}
