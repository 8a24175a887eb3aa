/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The number behind a key ("TracerPid:") of /proc/PID/task/TID/status; 0
 * without such a line, or without the file.
 */
pid_t otelread_task_status(pid_t pid, pid_t tid, const char *key);

/*
 * A thread's number as the thread itself sees it: in its own, innermost pid
 * namespace. Returns 0 when the thread is gone.
 */
uint32_t otelread_task_inside(pid_t pid, pid_t tid);

/* The same of all threads of a process, ascending; to be freed. 0 or -errno. */
int otelread_tasks_inside(pid_t pid, uint32_t **tids, size_t *count);
