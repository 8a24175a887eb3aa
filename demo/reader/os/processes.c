/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/processes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t otelread_pid_parse(const char *text)
{
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return 0;

    errno = 0;
    const unsigned long number = strtoul(text, NULL, 10);
    return errno == 0 && number <= INT_MAX ? (pid_t)number : 0;
}

static int append(pid_t **pids, size_t *count, size_t *room, pid_t pid)
{
    if (*count == *room) {
        const size_t more = *room == 0 ? 256 : 2 * *room;
        pid_t *const grown = realloc(*pids, more * sizeof(**pids));

        if (!grown)
            return -ENOMEM;
        *pids = grown;
        *room = more;
    }
    (*pids)[(*count)++] = pid;
    return 0;
}

static int collect(DIR *directory, pid_t but, pid_t **pids, size_t *count)
{
    size_t room = 0;

    for (;;) {
        errno = 0;
        const struct dirent *const entry = readdir(directory);
        if (!entry)
            return -errno;

        const pid_t pid = otelread_pid_parse(entry->d_name);
        if (pid == 0 || pid == but)
            continue;
        const int error = append(pids, count, &room, pid);
        if (error != 0)
            return error;
    }
}

static int compare(const void *a, const void *b)
{
    const pid_t left = *(const pid_t *)a;
    const pid_t right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

/* The numbers that are entries of a directory. */
static int list(const char *path, pid_t but, pid_t **pids, size_t *count)
{
    *pids = NULL;
    *count = 0;
    DIR *const directory = opendir(path);
    if (!directory)
        return -errno;

    const int error = collect(directory, but, pids, count);
    (void)closedir(directory);
    if (error != 0) {
        free(*pids);
        *pids = NULL;
        *count = 0;
        return error;
    }
    if (*count > 0)
        qsort(*pids, *count, sizeof(**pids), compare);
    return 0;
}

int otelread_processes_list(pid_t **pids, size_t *count)
{
    return list("/proc", getpid(), pids, count);
}

int otelread_threads_list(pid_t pid, pid_t **tids, size_t *count)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    return list(path, 0, tids, count);
}
