/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/why.h"

#include "demo/base/escape.h"
#include "demo/reader/command/show.h"
#include "demo/reader/os/permission.h"
#include "demo/reader/why/running.h"

#include <stdlib.h>
#include <string.h>

/* The service.name of the first context; to be freed. NULL if it has none. */
static char *find_service_name(const struct otelread_contexts *contexts)
{
    static const char key[] = "service.name";
    const struct otelread_node *node =
        contexts->count > 0 ? contexts->list[0].decoded.resource.first : NULL;

    for (; node; node = node->next)
        if (node->kind == OTELREAD_STRING &&
            node->key.size == sizeof(key) - 1 &&
            memcmp(node->key.bytes, key, node->key.size) == 0)
            return strndup((const char *)node->span.bytes, node->span.size);
    return NULL;
}

static void diagnose(const struct otelread_report *report,
                     struct otelrun_checks *checks)
{
    const enum otelrun_check_id process = OTELRUN_CHECK_PROCESS;
    const pid_t pid = report->target.pid;
    struct otelread_view view = {.seen = OTELREAD_SEEN_BROKEN,
                                 .message = report->message};
    char *name;

    switch (report->status) {
    case OTELREAD_OK:
        view.seen = OTELREAD_SEEN_CONTEXT;
        break;
    case OTELREAD_SEVERAL:
        view.seen = OTELREAD_SEEN_SEVERAL;
        break;
    case OTELREAD_NO_CONTEXT:
        view.seen = OTELREAD_SEEN_NONE;
        break;
    case OTELREAD_NO_PROCESS:
    case OTELREAD_NO_PERMISSION:
        otelrun_checks_ask(checks, &process, 1);
        (void)otelrun_checks_fail(checks, process,
                                  report->status == OTELREAD_NO_PROCESS
                                      ? "give the number of one that runs"
                                      : otelread_permission_advice(pid),
                                  "%s", report->message);
        return;
    case OTELREAD_ERROR:
    case OTELREAD_USAGE:
    case OTELREAD_INVALID:
    case OTELREAD_BUSY:
    default:
        break;
    }
    name = find_service_name(&report->contexts);
    view.service_name = name;
    otelread_running_check(pid, &view, checks);
    free(name);
}

int otelread_why(const pid_t *pids, size_t count, bool json)
{
    struct otelread_report report = {.status = OTELREAD_OK};
    int status = OTELREAD_OK;

    for (size_t i = 0; i < count; i++) {
        struct otelrun_checks checks = {.of = {{.state = OTELRUN_NOT_ASKED}}};
        char subject[32];

        otelread_report_make(&report, pids[i], OTELREAD_PATIENCE_LONG);
        diagnose(&report, &checks);
        (void)snprintf(subject, sizeof(subject), json ? "%d" : "PID %d",
                       (int)pids[i]);
        if (json) {
            otelrun_checks_print_json(stdout, subject, &checks);
        } else {
            (void)puts(subject);
            otelrun_checks_print(stdout, &checks);
        }
        if (status == OTELREAD_OK)
            status = (int)report.status;
    }
    otelread_report_free(&report);
    return status;
}

void otelread_why_tell(const struct otelread_report *report)
{
    struct otelrun_checks checks = {.of = {{.state = OTELRUN_NOT_ASKED}}};
    const struct otelrun_check *failed;
    char found[sizeof(failed->found)];

    diagnose(report, &checks);
    failed = otelrun_checks_failed(&checks);
    if (!failed)
        return;
    otelbase_escape_copy(found, sizeof(found), failed->found,
                         strlen(failed->found));
    otelread_complain(report->target.pid, "%s (%s)", found, failed->advice);
}
