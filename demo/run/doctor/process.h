/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_PROCESS_H
#define OTELRUN_PROCESS_H

#include "demo/run/doctor/checks.h"
#include "demo/run/doctor/program.h"

#include <sys/types.h>

/* OTEP 4947, "Thread-Local Variable". */
#define OTELRUN_VARIABLE "otel_thread_ctx_v1"

/* What is known of one process that runs. */
struct otelrun_process {
    pid_t pid;
    int root; /* of its root directory, or -1 */
    uid_t user;
    bool is_secure;      /* AT_SECURE */
    bool hides_variable; /* the program has one of its own */
    char *environment;
    char **strings; /* its variables; NULL last */
    struct otelrun_program program;
    struct otelrun_checks *checks;
};

/* `pid` and `checks` are set. Returns false if there is no such process; the
 * check says so. The process must be closed then, too. */
bool otelrun_process_open(struct otelrun_process *p);
void otelrun_process_close(struct otelrun_process *p);

/* A file in /proc/PID, whose size nobody knows; NUL-terminated, or NULL. The
 * caller frees it. */
char *otelrun_process_read(pid_t pid, const char *name, size_t *size);

/* Of the environment that the process started with; NULL if it is not set. */
const char *otelrun_process_variable(const struct otelrun_process *p,
                                     const char *name);

/* The value of a line "NAME:\tVALUE" of /proc/PID/status, or -1. */
long otelrun_process_status(pid_t pid, const char *name);

/* The soft value of a limit in /proc/PID/limits, or -1 for none. */
long otelrun_process_limit(const struct otelrun_process *p, const char *name);

#endif
