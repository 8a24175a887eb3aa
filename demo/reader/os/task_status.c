/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/task_status.h"

#include "demo/reader/os/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a thread, from the reader's namespace to its own. */
#define INSIDE "NSpid:"

/* The line that begins with the key. Returns what follows, or NULL. */
static const char *find_line(pid_t pid, pid_t tid, const char *key,
                             char line[512])
{
    const char *found = NULL;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
                   (int)tid);
    FILE *const file = fopen(path, "re");
    if (!file)
        return NULL;
    while (!found && fgets(line, 512, file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            found = line + strlen(key);
    }
    (void)fclose(file);
    return found;
}

pid_t otelread_task_status(pid_t pid, pid_t tid, const char *key)
{
    char line[512];
    const char *const value = find_line(pid, tid, key, line);

    return value ? (pid_t)strtol(value, NULL, 10) : 0;
}

uint32_t otelread_task_inside(pid_t pid, pid_t tid)
{
    char line[512];
    const char *const value = find_line(pid, tid, INSIDE, line);
    const char *const last = value ? strrchr(value, '\t') : NULL;

    return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

static int compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

int otelread_tasks_inside(pid_t pid, uint32_t **tids, size_t *count)
{
    pid_t *seen;
    size_t all;
    const int error = otelread_threads_list(pid, &seen, &all);

    *tids = NULL;
    *count = 0;
    if (error == 0)
        *tids = calloc(all + 1, sizeof(**tids));
    for (size_t i = 0; *tids && i < all; i++)
        (*tids)[(*count)++] = otelread_task_inside(pid, seen[i]);
    free(seen);
    if (*tids)
        qsort(*tids, *count, sizeof(**tids), compare);
    return error == 0 && !*tids ? -ENOMEM : error;
}
