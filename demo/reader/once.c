/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/once.h"

#include "demo/reader/processes.h"
#include "demo/reader/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often to make one report. */
#define MAKES_MAX 3

/* Again when an exec came in between, while the threads were read. */
static void report_make(struct otelread_report *report, pid_t pid,
                        enum otelread_depth depth)
{
    int result = -EAGAIN;

    for (int i = 0; i < MAKES_MAX && result == -EAGAIN; i++) {
        otelread_report_make(report, pid, OTELREAD_PATIENCE_LONG);
        if (depth == OTELREAD_DEPTH_PROCESS)
            return;
        result = otelread_threads_read(report, depth == OTELREAD_DEPTH_STOPPED);
    }
    if (report->status == OTELREAD_OK)
        otelread_report_check(report);
}

int otelread_once(struct otelread_output *output, const pid_t *pids,
                  size_t count, enum otelread_depth depth)
{
    struct otelread_report report = {.count = 0};
    int status = OTELREAD_OK;

    for (size_t i = 0; i < count && !output->failed; i++) {
        report_make(&report, pids[i], depth);
        otelread_show(output, &report);
        if (status == OTELREAD_OK)
            status = (int)otelread_threads_conclude(&report);
    }
    otelread_report_free(&report);
    return output->failed ? OTELREAD_ERROR : status;
}

struct tally {
    size_t shown;
    size_t denied;
    size_t read; /* a context or none, but allowed */
};

static void show_some(struct otelread_output *output,
                      const struct otelread_report *report, struct tally *tally)
{
    switch (report->status) {
    case OTELREAD_NO_PROCESS:
        return;
    case OTELREAD_NO_PERMISSION:
        tally->denied++;
        return;
    case OTELREAD_NO_CONTEXT:
        tally->read++;
        return;
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

static int conclude(const struct tally *tally)
{
    if (tally->denied > 0)
        (void)fprintf(stderr,
                      "otelctx-read: %zu process%s could not be read: no "
                      "permission\n",
                      tally->denied, tally->denied == 1 ? "" : "es");
    if (tally->shown > 0)
        return OTELREAD_OK;
    return tally->denied > 0 && tally->read == 0 ? OTELREAD_NO_PERMISSION
                                                 : OTELREAD_NO_CONTEXT;
}

int otelread_once_all(struct otelread_output *output, enum otelread_depth depth)
{
    struct otelread_report report = {.count = 0};
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
    return output->failed ? OTELREAD_ERROR : conclude(&tally);
}
