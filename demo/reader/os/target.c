/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/target.h"

#include "demo/reader/os/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Descriptors with higher numbers are closed between reads. */
#define KEPT_MAX 256

int otelread_target_file(const struct otelread_target *target, const char *file)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)target->task, file);
    const int fd = target->directory > 0
                       ? openat(target->directory, file, O_RDONLY | O_CLOEXEC)
                       : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == ENOENT ? -ESRCH : -errno;
}

/*
 * The main thread may exit before the others. It is a zombie then and has no
 * memory, while the process lives on. Returns another thread, or 0.
 */
static pid_t live_task(pid_t pid)
{
    char path[64];
    pid_t live = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const tasks = opendir(path);
    if (!tasks)
        return 0;
    for (struct dirent *entry; live == 0 && (entry = readdir(tasks));) {
        const pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        struct otelread_stat stat;

        if (task > 0 && otelread_stat_read(pid, task, &stat) == 0 &&
            !stat.ended)
            live = task;
    }
    (void)closedir(tasks);
    return live;
}

static int directory_open(pid_t pid)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    const int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == ENOENT ? -ESRCH : -errno;
}

static void directory_close(struct otelread_target *target)
{
    if (target->directory > 0)
        (void)close(target->directory);
    target->directory = 0;
}

static void resident_close(struct otelread_target *target)
{
    if (target->opened)
        otelread_resident_close(&target->resident);
    target->opened = false;
}

int otelread_target_open(struct otelread_target *target, pid_t pid)
{
    struct otelread_stat stat;

    *target = (struct otelread_target){.pid = pid, .task = pid, .memory = -1};
    const int directory = directory_open(pid);
    if (directory < 0)
        return directory;
    const int error = otelread_stat_read_at(directory, pid, &stat);
    if (error != 0 || stat.ended)
        (void)close(directory);
    else
        target->directory = directory;
    if (error != 0)
        return error;
    (void)memcpy(target->command, stat.command, sizeof(target->command));
    target->started = stat.started;
    target->found = true;
    if (stat.ended)
        target->task = live_task(pid);
    return target->task != 0 ? 0 : -ESRCH;
}

void otelread_target_close(struct otelread_target *target)
{
    if (target->pid == 0)
        return; /* it was never opened */
    resident_close(target);
    directory_close(target);
    if (target->by_file && target->memory >= 0)
        (void)close(target->memory);
    target->memory = -1;
}

void otelread_target_trim(struct otelread_target *target)
{
    if (target->pid == 0)
        return;
    directory_close(target);
    if (target->resident.memory > KEPT_MAX)
        resident_close(target);
}

int otelread_target_check(const struct otelread_target *target)
{
    struct otelread_stat stat;

    if (target->by_directory && target->opened &&
        target->resident.memory >= 0 &&
        !otelread_resident_is_gone(&target->resident))
        return 0;
    if (otelread_stat_read(target->pid, target->pid, &stat) != 0 ||
        stat.started != target->started)
        return -ESRCH;
    return stat.ended && live_task(target->pid) == 0 ? -ESRCH : 0;
}

int otelread_target_maps(const struct otelread_target *target)
{
    return otelread_target_file(target, "maps");
}
