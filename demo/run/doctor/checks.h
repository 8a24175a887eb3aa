/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* What stands between a program and its context, in the order in which it is
 * looked at. */
enum otelrun_check_id {
    OTELRUN_CHECK_COMMAND,
    OTELRUN_CHECK_PROCESS,
    OTELRUN_CHECK_DYNAMIC,
    OTELRUN_CHECK_PRIVILEGES,
    OTELRUN_CHECK_SANITIZER,
    OTELRUN_CHECK_PRELOAD,
    OTELRUN_CHECK_LIBRARY,
    OTELRUN_CHECK_ARCHITECTURE,
    OTELRUN_CHECK_MAPPED,
    OTELRUN_CHECK_SETTINGS,
    OTELRUN_CHECK_SECCOMP,
    OTELRUN_CHECK_LIMITS,
    OTELRUN_CHECK_CONTEXT,
    OTELRUN_CHECK_THREADS,
    OTELRUN_CHECK_SDK,
    OTELRUN_CHECK_REQUESTS,
    OTELRUN_CHECK_COUNT
};

enum otelrun_state {
    OTELRUN_NOT_ASKED, /* this list does not have the check */
    OTELRUN_NOT_REACHED,
    OTELRUN_PASSED,
    OTELRUN_FAILED
};

struct otelrun_check {
    enum otelrun_state state;
    char found[512];    /* what was found there */
    const char *advice; /* what to do, of a failed check */
};

/* A list of checks; begins as {0}. */
struct otelrun_checks {
    struct otelrun_check of[OTELRUN_CHECK_COUNT];
};

/* Adds these checks to the list, as not reached. */
void otelrun_checks_ask(struct otelrun_checks *checks,
                        const enum otelrun_check_id *ids, size_t count);

/* Give a check its result; what was found is as in printf(3). */
__attribute__((format(printf, 3, 4))) void
otelrun_checks_pass(struct otelrun_checks *checks, enum otelrun_check_id id,
                    const char *format, ...);
/* Returns false, for the caller to return. */
__attribute__((format(printf, 4, 5))) bool
otelrun_checks_fail(struct otelrun_checks *checks, enum otelrun_check_id id,
                    const char *advice, const char *format, ...);

/* The first check that failed, or NULL. */
const struct otelrun_check *
otelrun_checks_failed(const struct otelrun_checks *checks);

const char *otelrun_check_name(enum otelrun_check_id id);

void otelrun_checks_print(FILE *out, const struct otelrun_checks *checks);

/* One JSON object on one line: `subject` with its name, and the checks. */
void otelrun_checks_print_json(FILE *out, const char *subject,
                               const struct otelrun_checks *checks);
