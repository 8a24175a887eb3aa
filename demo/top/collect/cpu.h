/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Reads the processor time of a process in ns, ended threads included. Returns
 * 0 or -ESRCH. */
int oteltop_cpu_of_process(pid_t pid, uint64_t *cpu_ns);

/* What /proc/PID/task/TID/schedstat says. */
struct oteltop_schedstat {
    uint64_t cpu_ns;
    uint64_t slices; /* how often the thread was given a processor */
};

/*
 * Opens the file; directory is /proc/PID. Returns a descriptor or -errno:
 * -ENOENT where the kernel has no such file (CONFIG_SCHED_INFO), or no such
 * thread.
 */
int oteltop_schedstat_open(int directory, pid_t tid);

/* Returns 0 or -ESRCH: the thread has ended. */
int oteltop_schedstat_read(int fd, struct oteltop_schedstat *out);
