/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int oteltop_cpu_of_process(pid_t pid, uint64_t *cpu_ns)
{
    struct timespec time;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 ||
        clock_gettime(clock, &time) != 0)
        return -ESRCH;
    *cpu_ns = (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
    return 0;
}

int oteltop_schedstat_open(int directory, pid_t tid)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "task/%d/schedstat", (int)tid);
    const int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The file has three numbers: time on a processor and time waiting for one
 * (both in ns), and slices. */
int oteltop_schedstat_read(int fd, struct oteltop_schedstat *out)
{
    char text[128];
    char *end;
    const ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

    if (got <= 0)
        return -ESRCH;
    text[got] = '\0';
    out->cpu_ns = strtoull(text, &end, 10);
    (void)strtoull(end, &end, 10);
    out->slices = strtoull(end, &end, 10);
    return 0;
}
