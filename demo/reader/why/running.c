/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/why/running.h"

#include "config/options.h"
#include "demo/reader/why/process.h"
#include "demo/run/doctor/usual.h"

#include <stdlib.h>
#include <string.h>

/* The path of the library in the process. Returns false if it is not there. */
static bool find_mapped(const struct otelread_process *p, char *out,
                        size_t out_size)
{
    size_t size;
    char *const maps = otelread_process_read(p->pid, "maps", &size);
    const char *at = maps ? strstr(maps, "/" OTELRUN_LIBRARY) : NULL;
    const bool found = at;

    while (found && at > maps && at[-1] != ' ' && at[-1] != '\n')
        at--;
    if (found)
        (void)snprintf(out, out_size, "%.*s", (int)strcspn(at, "\n"), at);
    free(maps);
    return found;
}

/* OTEP 4947, "Thread-Local Variable": in the dynamic symbol table. */
static void check_threads(const struct otelread_process *p)
{
    static const enum otelrun_check_id ids[] = {OTELRUN_CHECK_THREADS};

    otelrun_checks_ask(p->checks, ids, 1);
    if (p->hides_variable)
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_THREADS,
            "link the program with -rdynamic, or do not preload the library",
            "the program does not export its own " OTELREAD_VARIABLE
            ": a profiler may take the library's, which is empty");
    else
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_THREADS,
                            "the program hides no " OTELREAD_VARIABLE);
}

/* The library's context has a service name, and the configured one. */
static bool is_anothers(const struct otelread_process *p, const char *name)
{
    const char *const configured =
        p->is_secure ? NULL : otelread_process_variable(p, "OTEL_SERVICE_NAME");

    return !name ||
           (configured && *configured != '\0' && strcmp(name, configured) != 0);
}

/* Does an SDK in the process read another configuration? */
static bool has_doubt(const struct otelread_process *p)
{
    struct otelctx_setting settings[OTELCTX_SETTINGS_COUNT] = {0};

    if (!p->is_secure)
        otelctx_options_read_environment(settings, p->strings);
    return settings[OTELCTX_SETTING_DECLARATIVE].text.at;
}

static void check_context(const struct otelread_process *p, bool is_mapped,
                          const char *service_name)
{
    if (!is_mapped)
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_CONTEXT,
                            "published by the program itself");
    else if (is_anothers(p, service_name))
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_CONTEXT,
            "configure it there, or exclude the program: "
            "OTELCTX_EXCLUDE_PATHS",
            "the program, or an SDK in it, publishes in place of the library: "
            "its service.name is %s",
            service_name ? service_name : "not set");
    else
        otelrun_checks_pass(p->checks, OTELRUN_CHECK_CONTEXT, "published%s",
                            has_doubt(p) ? "; " OTELCTX_DECLARATIVE_DOUBT : "");
}

static void check_view(const struct otelread_process *p, bool is_mapped,
                       const struct otelread_view *view)
{
    switch (view->seen) {
    case OTELREAD_SEEN_CONTEXT:
        check_context(p, is_mapped, view->service_name);
        break;
    case OTELREAD_SEEN_SEVERAL:
        (void)otelrun_checks_fail(
            p->checks, OTELRUN_CHECK_CONTEXT,
            "exclude the program: OTELCTX_EXCLUDE_PATHS",
            "the program, or an SDK in it, publishes as well");
        break;
    case OTELREAD_SEEN_BROKEN:
        (void)otelrun_checks_fail(p->checks, OTELRUN_CHECK_CONTEXT,
                                  "look at its bytes: otelctx-read --raw", "%s",
                                  view->message);
        break;
    case OTELREAD_SEEN_NONE:
    default:
        if (is_mapped)
            otelread_silence_check(p);
        else
            otelread_absence_check(p);
    }
}

/* What was read belongs to two programs, or to a start that goes on. */
static void check_changed(const struct otelread_process *p, bool was_mapped)
{
    static const enum otelrun_check_id id = OTELRUN_CHECK_PROCESS;
    char path[PATH_MAX];

    if (p->checks->of[OTELRUN_CHECK_MAPPED].state != OTELRUN_FAILED &&
        p->checks->of[OTELRUN_CHECK_CONTEXT].state != OTELRUN_FAILED)
        return;
    if (!otelread_process_changed(p) &&
        find_mapped(p, path, sizeof(path)) == was_mapped)
        return;
    *p->checks = (struct otelrun_checks){.of = {{.state = OTELRUN_NOT_ASKED}}};
    otelrun_checks_ask(p->checks, &id, 1);
    (void)otelrun_checks_fail(
        p->checks, id, "read it again",
        "it changed meanwhile: it ended, executed a program, or is starting");
}

void otelread_running_check(pid_t pid, const struct otelread_view *view,
                            struct otelrun_checks *checks)
{
    static const enum otelrun_check_id ids[] = {
        OTELRUN_CHECK_PROCESS, OTELRUN_CHECK_MAPPED, OTELRUN_CHECK_CONTEXT};
    struct otelread_process p = {.pid = pid, .root = -1, .checks = checks};
    char path[PATH_MAX];
    bool is_mapped;

    otelrun_checks_ask(checks, ids, sizeof(ids) / sizeof(ids[0]));
    if (!otelread_process_open(&p))
        return;
    is_mapped = find_mapped(&p, path, sizeof(path));
    if (is_mapped)
        otelrun_checks_pass(checks, OTELRUN_CHECK_MAPPED, "%s", path);
    check_view(&p, is_mapped, view);
    check_changed(&p, is_mapped);
    if (is_mapped && !otelrun_checks_failed(checks))
        check_threads(&p);
    otelread_process_close(&p);
}
