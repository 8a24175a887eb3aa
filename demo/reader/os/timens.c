/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/timens.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS 1000000000

/* "time:[4026531834]" */
#define LINK_SIZE 64

static bool link_read(const char *process, const char *name,
                      char text[LINK_SIZE])
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, name);
    const ssize_t size = readlink(path, text, LINK_SIZE - 1);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/*
 * The file has the offsets of the namespace for children, which differs from
 * the process's own between unshare(2) and the next fork or exec.
 */
static bool is_childrens(const char *process, const char *own)
{
    char childrens[LINK_SIZE];

    return link_read(process, "time_for_children", childrens) &&
           strcmp(own, childrens) == 0;
}

/* "boottime  SECONDS  NANOSECONDS": false when there is no such line. */
static bool offset_read(const char *process, int64_t *offset_ns)
{
    char path[64];
    char line[128];
    bool found = false;

    (void)snprintf(path, sizeof(path), "/proc/%s/timens_offsets", process);
    FILE *const file = fopen(path, "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof(line), file)) {
        int64_t seconds;
        int64_t nanoseconds;

        found = sscanf(line, "boottime %" SCNd64 " %" SCNd64, &seconds,
                       &nanoseconds) == 2 &&
                seconds < INT64_MAX / SECOND_NS &&
                seconds > INT64_MIN / SECOND_NS;
        if (found)
            *offset_ns = seconds * SECOND_NS + nanoseconds;
    }
    (void)fclose(file);
    return found;
}

int64_t otelread_boottime_ahead_ns(pid_t task)
{
    char process[16];
    static char own[LINK_SIZE]; /* never changes */
    char theirs[LINK_SIZE];
    int64_t own_ns;
    int64_t their_ns;

    (void)snprintf(process, sizeof(process), "%d", (int)task);
    if ((own[0] == '\0' && !link_read("self", "time", own)) ||
        !link_read(process, "time", theirs) || strcmp(own, theirs) == 0)
        return 0;
    if (!is_childrens("self", own) || !is_childrens(process, theirs) ||
        !offset_read("self", &own_ns) || !offset_read(process, &their_ns))
        return 0;
    return their_ns - own_ns;
}
