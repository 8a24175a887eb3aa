/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the kernel says about one thread. */
struct otelread_stat {
    char command[64]; /* as the thread calls itself: any bytes */
    char state;       /* R, S, D, T and so on, as in proc_pid_stat(5) */
    bool ended;       /* a zombie: its parent has not waited for it */
    bool kernels_own; /* a kernel thread: never runs the program's code */
    uint64_t started; /* ticks since boot */
};

/* Returns 0, -ESRCH (no such thread of that process) or -errno. */
int otelread_stat_read(pid_t pid, pid_t tid, struct otelread_stat *out);

/* The same by a descriptor of /proc/PID. */
int otelread_stat_read_at(int directory, pid_t tid, struct otelread_stat *out);
