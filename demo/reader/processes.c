/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/processes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
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

        if (grown == NULL)
            return -ENOMEM;
        *pids = grown;
        *room = more;
    }
    (*pids)[(*count)++] = pid;
    return 0;
}

static int collect(DIR *proc, pid_t **pids, size_t *count)
{
    size_t room = 0;

    for (;;) {
        errno = 0;
        const struct dirent *const entry = readdir(proc);
        if (entry == NULL)
            return -errno;

        const pid_t pid = otelread_pid_parse(entry->d_name);
        if (pid == 0 || pid == getpid())
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

int otelread_processes_list(pid_t **pids, size_t *count)
{
    *pids = NULL;
    *count = 0;
    DIR *const proc = opendir("/proc");
    if (proc == NULL)
        return -errno;

    const int error = collect(proc, pids, count);
    (void)closedir(proc);
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
