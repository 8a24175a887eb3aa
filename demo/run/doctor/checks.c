/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/checks.h"

#include "demo/base/escape.h"
#include "demo/base/json_writer.h"

#include <stdarg.h>
#include <string.h>

static const char *const names[OTELRUN_CHECK_COUNT] = {
    [OTELRUN_CHECK_COMMAND] = "command",
    [OTELRUN_CHECK_PROCESS] = "process",
    [OTELRUN_CHECK_DYNAMIC] = "dynamic",
    [OTELRUN_CHECK_PRIVILEGES] = "privileges",
    [OTELRUN_CHECK_SANITIZER] = "sanitizer",
    [OTELRUN_CHECK_PRELOAD] = "preload",
    [OTELRUN_CHECK_LIBRARY] = "library",
    [OTELRUN_CHECK_ARCHITECTURE] = "architecture",
    [OTELRUN_CHECK_MAPPED] = "mapped",
    [OTELRUN_CHECK_SETTINGS] = "settings",
    [OTELRUN_CHECK_SECCOMP] = "seccomp",
    [OTELRUN_CHECK_LIMITS] = "limits",
    [OTELRUN_CHECK_CONTEXT] = "context",
    [OTELRUN_CHECK_THREADS] = "threads",
    [OTELRUN_CHECK_SDK] = "sdk",
    [OTELRUN_CHECK_REQUESTS] = "requests",
};

/* What --check prints in front of a check, and JSON says of it. */
static const struct {
    const char *mark, *word;
} states[] = {
    [OTELRUN_NOT_REACHED] = {"-", "not reached"},
    [OTELRUN_PASSED] = {"ok", "passed"},
    [OTELRUN_FAILED] = {"FAILED", "failed"},
};

const char *otelrun_check_name(enum otelrun_check_id id)
{
    return names[id];
}

void otelrun_checks_ask(struct otelrun_checks *checks,
                        const enum otelrun_check_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        checks->of[ids[i]].state = OTELRUN_NOT_REACHED;
}

__attribute__((format(printf, 3, 0))) static void
set(struct otelrun_check *check, enum otelrun_state state, const char *format,
    va_list arguments)
{
    check->state = state;
    (void)vsnprintf(check->found, sizeof(check->found), format, arguments);
}

void otelrun_checks_pass(struct otelrun_checks *checks,
                         enum otelrun_check_id id, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set(&checks->of[id], OTELRUN_PASSED, format, arguments);
    va_end(arguments);
}

bool otelrun_checks_fail(struct otelrun_checks *checks,
                         enum otelrun_check_id id, const char *advice,
                         const char *format, ...)
{
    va_list arguments;

    checks->of[id].advice = advice;
    va_start(arguments, format);
    set(&checks->of[id], OTELRUN_FAILED, format, arguments);
    va_end(arguments);
    return false;
}

const struct otelrun_check *
otelrun_checks_failed(const struct otelrun_checks *checks)
{
    for (size_t i = 0; i < OTELRUN_CHECK_COUNT; i++)
        if (checks->of[i].state == OTELRUN_FAILED)
            return &checks->of[i];
    return NULL;
}

void otelrun_checks_print(FILE *out, const struct otelrun_checks *checks)
{
    for (size_t i = 0; i < OTELRUN_CHECK_COUNT; i++) {
        const struct otelrun_check *const check = &checks->of[i];

        if (check->state == OTELRUN_NOT_ASKED)
            continue;
        (void)fprintf(out, "  %-6s  ", states[check->state].mark);
        if (check->state == OTELRUN_NOT_REACHED) {
            (void)fputs(names[i], out);
        } else {
            (void)fprintf(out, "%-12s  ", names[i]);
            otelbase_escape_print(out, check->found, strlen(check->found));
        }
        (void)fputc('\n', out);
        if (check->state == OTELRUN_FAILED)
            (void)fprintf(out, "  %22s%s\n", "", check->advice);
    }
}

static void print_check(struct otelbase_json *json, const char *name,
                        const struct otelrun_check *check)
{
    otelbase_json_open(json, '{');
    otelbase_json_key(json, "check");
    otelbase_json_text(json, name);
    otelbase_json_key(json, "state");
    otelbase_json_text(json, states[check->state].word);
    if (check->state != OTELRUN_NOT_REACHED) {
        otelbase_json_key(json, "found");
        otelbase_json_text(json, check->found);
    }
    if (check->state == OTELRUN_FAILED) {
        otelbase_json_key(json, "advice");
        otelbase_json_text(json, check->advice);
    }
    otelbase_json_close(json, '}');
}

void otelrun_checks_print_json(FILE *out, const char *subject,
                               const struct otelrun_checks *checks)
{
    struct otelbase_json json = {.out = out};

    otelbase_json_open(&json, '{');
    otelbase_json_key(&json, "subject");
    otelbase_json_text(&json, subject);
    otelbase_json_key(&json, "passed");
    otelbase_json_literal(&json,
                          !otelrun_checks_failed(checks) ? "true" : "false");
    otelbase_json_key(&json, "checks");
    otelbase_json_open(&json, '[');
    for (size_t i = 0; i < OTELRUN_CHECK_COUNT; i++)
        if (checks->of[i].state != OTELRUN_NOT_ASKED)
            print_check(&json, names[i], &checks->of[i]);
    otelbase_json_close(&json, ']');
    otelbase_json_close(&json, '}');
    (void)fputc('\n', out);
}
