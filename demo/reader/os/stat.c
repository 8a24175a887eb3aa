/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* proc_pid_stat(5): the field numbers behind the command name. */
enum {
    STAT_STATE = 3,
    STAT_FLAGS = 9,
    STAT_STARTTIME = 22
};

/*
 * The kernel's include/linux/sched.h: PF_IO_WORKER, PF_USER_WORKER (6.4) and
 * PF_KTHREAD. The first two are listed among the threads of the process that
 * they work for, and have a copy of the thread pointer of one of them.
 */
#define FLAGS_KERNELS_OWN (0x10U | 0x4000U | 0x200000U)

static void field_take(struct otelread_stat *out, int number, const char *text)
{
    if (number == STAT_STATE)
        out->state = text[0];
    else if (number == STAT_FLAGS)
        out->kernels_own = (strtoul(text, NULL, 10) & FLAGS_KERNELS_OWN) != 0;
    else if (number == STAT_STARTTIME)
        out->started = strtoull(text, NULL, 10);
}

/* The command may contain any byte, even ')': the last ')' ends it. */
static int parse(const char *text, struct otelread_stat *out)
{
    const char *const open = strchr(text, '(');
    const char *field = strrchr(text, ')');

    if (!open || !field || field < open)
        return -EIO;

    size_t size = (size_t)(field - open) - 1;
    if (size >= sizeof(out->command))
        size = sizeof(out->command) - 1;
    (void)memcpy(out->command, open + 1, size);
    out->command[size] = '\0';

    for (int number = STAT_STATE; number <= STAT_STARTTIME; number++) {
        field = strchr(field + 1, ' ');
        if (!field)
            return -EIO;
        field_take(out, number, field + 1);
    }
    out->ended = out->state == 'Z' || out->state == 'X';
    return 0;
}

static int file_read(int directory, const char *path, struct otelread_stat *out)
{
    char text[1024];

    *out = (struct otelread_stat){.ended = false};
    const int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -errno;

    const ssize_t got = read(fd, text, sizeof(text) - 1);
    const int error = errno;
    (void)close(fd);
    if (got < 0)
        return -error;
    text[got] = '\0';
    return parse(text, out);
}

int otelread_stat_read(pid_t pid, pid_t tid, struct otelread_stat *out)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid,
                   (int)tid);
    return file_read(AT_FDCWD, path, out);
}

int otelread_stat_read_at(int directory, pid_t tid, struct otelread_stat *out)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "task/%d/stat", (int)tid);
    return file_read(directory, path, out);
}
