/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/doctor/checks.h"
#include "demo/run/doctor/program.h"

#include <sys/types.h>

/* OTEP 4947, "Thread-Local Variable". */
#define OTELREAD_VARIABLE "otel_thread_ctx_v1"

/* What is known of one process that runs. */
struct otelread_process {
    pid_t pid;
    int root; /* of its root directory, or -1 */
    uid_t user;
    bool is_secure;      /* AT_SECURE */
    bool hides_variable; /* the program has one of its own */
    char *auxv;          /* other addresses after each execve(2) */
    size_t auxv_size;
    char *environment;
    char **strings; /* its variables; NULL last */
    struct otelrun_program program;
    struct otelrun_checks *checks;
};

/* `pid` and `checks` are set. Returns false if there is no such process; the
 * check says so. The process must be closed then, too. */
bool otelread_process_open(struct otelread_process *p);
void otelread_process_close(struct otelread_process *p);

/* Has it executed another program since it was opened, or does it still wait
 * for a processor? Waits a moment first, and two seconds for one that waits. */
bool otelread_process_changed(const struct otelread_process *p);

/* A file in /proc/PID, whose size nobody knows; NUL-terminated, or NULL. The
 * caller frees it. */
char *otelread_process_read(pid_t pid, const char *name, size_t *size);

/* Of the environment that the process started with; NULL if it is not set. */
const char *otelread_process_variable(const struct otelread_process *p,
                                      const char *name);

/* The value of a line "NAME:\tVALUE" of /proc/PID/status, or -1. */
long otelread_process_status(pid_t pid, const char *name);

/* The soft value of a limit in /proc/PID/limits, or -1 for none. */
long otelread_process_limit(const struct otelread_process *p, const char *name);

/* Why a process has not mapped the library. */
void otelread_absence_check(const struct otelread_process *p);

/* Why a process that has mapped the library has no context. */
void otelread_silence_check(const struct otelread_process *p);
