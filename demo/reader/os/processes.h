/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * The numbers of all processes but this one, ascending; to be freed.
 * Returns 0 or -errno.
 */
int otelread_processes_list(pid_t **pids, size_t *count);

/* The same of the threads of a process; -ENOENT or -ESRCH when it is gone. */
int otelread_threads_list(pid_t pid, pid_t **tids, size_t *count);

/* Parses a pid: decimal digits, above 0. Returns 0 for anything else. */
pid_t otelread_pid_parse(const char *text);
