/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/once.h"

#include "demo/reader/command/why.h"
#include "demo/reader/os/permission.h"
#include "demo/reader/os/processes.h"
#include "demo/reader/report/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often to make one report. */
#define MAKES_MAX 3

/* Starts again when an exec comes in between. */
static void report_make(struct otelread_report *report, pid_t pid,
                        enum otelread_depth depth)
{
    int result = -EAGAIN;

    for (int i = 0; i < MAKES_MAX && result == -EAGAIN; i++) {
        otelread_report_make(report, pid, OTELREAD_PATIENCE_LONG);
        if (depth == OTELREAD_DEPTH_PROCESS)
            return;
        result = otelread_report_read_threads(report,
                                              depth == OTELREAD_DEPTH_STOPPED);
    }
    if (report->status == OTELREAD_OK)
        otelread_report_check(report);
}

int otelread_once(struct otelread_output *output, const pid_t *pids,
                  size_t count, enum otelread_depth depth)
{
    struct otelread_report report = {.status = OTELREAD_OK};
    int status = OTELREAD_OK;

    for (size_t i = 0; i < count && !output->failed; i++) {
        report_make(&report, pids[i], depth);
        otelread_show(output, &report);
        if (report.status == OTELREAD_NO_CONTEXT && !output->table)
            otelread_why_tell(&report);
        if (status == OTELREAD_OK)
            status = (int)otelread_report_exit_status(&report);
    }
    otelread_report_free(&report);
    return output->failed ? OTELREAD_ERROR : status;
}

struct tally {
    size_t shown;
    size_t denied;
    pid_t last_denied;
    size_t read; /* with permission, whether there was a context or not */
};

static void show_some(struct otelread_output *output,
                      const struct otelread_report *report, struct tally *tally)
{
    switch (report->status) {
    case OTELREAD_NO_PROCESS:
        return;
    case OTELREAD_NO_PERMISSION:
        tally->denied++;
        tally->last_denied = report->target.pid;
        return;
    case OTELREAD_NO_CONTEXT:
        if (!report->threads ||
            !otelread_threads_have_storage(report->threads)) {
            tally->read++;
            return;
        }
        tally->shown++;
        break;
    case OTELREAD_OK:
    case OTELREAD_SEVERAL:
        tally->shown++;
        break;
    case OTELREAD_ERROR:
    case OTELREAD_USAGE:
    case OTELREAD_INVALID:
    case OTELREAD_BUSY:
    default:
        break;
    }
    tally->read++;
    otelread_show(output, report);
}

/* What standard error says about those that are not shown. */
static void tell(const struct tally *tally)
{
    if (tally->denied > 0)
        (void)fprintf(stderr,
                      "otelctx-read: %zu process%s could not be read: no "
                      "permission\n"
                      "otelctx-read: %s\n",
                      tally->denied, tally->denied == 1 ? "" : "es",
                      otelread_permission_advice(tally->last_denied));
    if (tally->shown == 0)
        (void)fprintf(stderr, "otelctx-read: no process%s has a context\n",
                      tally->denied > 0 ? " that could be read" : "");
}

static int exit_status(const struct tally *tally)
{
    if (tally->shown > 0)
        return OTELREAD_OK;
    return tally->denied > 0 && tally->read == 0 ? OTELREAD_NO_PERMISSION
                                                 : OTELREAD_NO_CONTEXT;
}

int otelread_once_all(struct otelread_output *output, enum otelread_depth depth)
{
    struct otelread_report report = {.status = OTELREAD_OK};
    struct tally tally = {.shown = 0};
    pid_t *pids;
    size_t count;

    const int error = otelread_processes_list(&pids, &count);
    if (error != 0) {
        (void)fprintf(stderr, "otelctx-read: cannot list processes: %s\n",
                      strerror(-error));
        return OTELREAD_ERROR;
    }
    for (size_t i = 0; i < count && !output->failed; i++) {
        report_make(&report, pids[i], depth);
        show_some(output, &report, &tally);
    }
    otelread_report_free(&report);
    free(pids);
    tell(&tally);
    return output->failed ? OTELREAD_ERROR : exit_status(&tally);
}
