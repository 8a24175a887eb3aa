/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/identify.h"

#include "demo/reader/os/processes.h"
#include "demo/reader/os/target.h"
#include "demo/reader/os/task_status.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the kernel appends when the file has no name any more. */
#define DELETED " (deleted)"

static void deleted_cut(char *path, size_t size)
{
    const size_t mark = sizeof(DELETED) - 1;

    if (size > mark && strcmp(path + size - mark, DELETED) == 0)
        path[size - mark] = '\0';
}

static bool is_executable(pid_t pid, const char *name)
{
    char target[4096];
    char exe[64];

    (void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
    const ssize_t size = readlink(exe, target, sizeof(target) - 1);
    if (size < 0)
        return false; /* a kernel thread, or forbidden */
    target[size] = '\0';
    deleted_cut(target, (size_t)size);
    const char *const slash = strrchr(target, '/');
    return strcmp(slash ? slash + 1 : target, name) == 0;
}

/* Not when it is a zombie: there is nothing to read. */
static bool is_called(pid_t pid, const char *name)
{
    struct otelread_target target;

    if (otelread_target_open(&target, pid) != 0)
        return false;
    otelread_target_close(&target);
    return strcmp(target.command, name) == 0 || is_executable(pid, name);
}

int otelread_identify_name(const char *name, pid_t **pids, size_t *count)
{
    size_t all;
    const int error = otelread_processes_list(pids, &all);

    *count = 0;
    if (error != 0)
        return error;
    for (size_t i = 0; i < all; i++) {
        if (is_called((*pids)[i], name))
            (*pids)[(*count)++] = (*pids)[i];
    }
    return 0;
}

pid_t otelread_identify_thread(pid_t tid)
{
    return otelread_task_status(tid, tid, "Tgid:");
}
