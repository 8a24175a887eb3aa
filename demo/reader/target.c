/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/target.h"

#include "demo/reader/stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int proc_open(pid_t task, const char *file)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)task, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
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
    if (tasks == NULL)
        return 0;
    for (struct dirent *entry; live == 0 && (entry = readdir(tasks)) != NULL;) {
        const pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        struct otelread_stat stat;

        if (task > 0 && otelread_stat_read(pid, task, &stat) == 0 &&
            !stat.ended)
            live = task;
    }
    (void)closedir(tasks);
    return live;
}

int otelread_target_open(struct otelread_target *target, pid_t pid)
{
    struct otelread_stat stat;

    *target = (struct otelread_target){.pid = pid, .task = pid, .memory = -1};
    const int error = otelread_stat_read(pid, pid, &stat);
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
    if (target->by_file && target->memory >= 0)
        (void)close(target->memory);
    target->memory = -1;
}

int otelread_target_check(const struct otelread_target *target)
{
    struct otelread_stat stat;

    if (otelread_stat_read(target->pid, target->pid, &stat) != 0 ||
        stat.started != target->started)
        return -ESRCH;
    return stat.ended && live_task(target->pid) == 0 ? -ESRCH : 0;
}

int otelread_target_maps(const struct otelread_target *target)
{
    return proc_open(target->task, "maps");
}

/* EIO is a hole, 0 an address space that is gone, EINVAL an absurd address. */
static int read_by_file(struct otelread_target *target, uint64_t address,
                        void *out, size_t size)
{
    if (target->memory < 0) {
        const int fd = proc_open(target->task, "mem");

        if (fd < 0)
            return fd;
        target->memory = fd;
    }
    if (address > INT64_MAX)
        return -EFAULT;

    const ssize_t got = pread(target->memory, out, size, (off_t)address);
    if (got < 0 && errno == ESRCH)
        return -ESRCH;
    return got >= 0 && (size_t)got == size ? 0 : -EFAULT;
}

int otelread_target_read(struct otelread_target *target, uint64_t address,
                         void *out, size_t size)
{
    if (address > UINTPTR_MAX)
        return -EFAULT;
    if (target->by_file)
        return read_by_file(target, address, out, size);

    const struct iovec local = {.iov_base = out, .iov_len = size};
    const struct iovec remote = {.iov_base = (void *)(uintptr_t)address,
                                 .iov_len = size};
    const ssize_t got =
        process_vm_readv(target->task, &local, 1, &remote, 1, 0);
    if (got >= 0)
        return (size_t)got == size ? 0 : -EFAULT;
    if (errno == ESRCH)
        return -ESRCH;
    if (errno != ENOSYS && errno != EPERM)
        return -EFAULT;

    /* EPERM too: sandboxes forbid the call while the file stays allowed. */
    target->by_file = true;
    return read_by_file(target, address, out, size);
}
