/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/once.h"

#include "demo/reader/command/why.h"
#include "demo/reader/report/threads.h"

#include <errno.h>

/* How often to make one report. */
#define MAKES_MAX 3

void otelread_once_make(struct otelread_report *report, pid_t pid,
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
        otelread_once_make(&report, pids[i], depth);
        otelread_show(output, &report);
        if (report.status == OTELREAD_NO_CONTEXT && !output->table)
            otelread_why_tell(&report);
        if (status == OTELREAD_OK)
            status = (int)otelread_report_exit_status(&report);
    }
    otelread_report_free(&report);
    return output->failed ? OTELREAD_ERROR : status;
}
