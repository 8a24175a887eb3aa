/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * The processes of that name but this one, ascending; to be freed. A name is
 * that in /proc/PID/comm, or the base name of the executable. Not argv[0]: it
 * is memory of the process, which may not answer.
 * Returns 0 or -errno.
 */
int otelread_identify_name(const char *name, pid_t **pids, size_t *count);

/* The process that a thread belongs to; 0 when nothing has that number. */
pid_t otelread_identify_thread(pid_t tid);
