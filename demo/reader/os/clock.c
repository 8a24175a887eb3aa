/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/clock.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define SECOND_NS     1000000000
#define PAUSE_NS      100000U
#define TRIES_AT_ONCE 3
#define TRIES_MIN     10

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {.tv_sec = 0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

uint64_t otelread_boottime_ns(void)
{
    return now_ns(CLOCK_BOOTTIME);
}

uint64_t otelread_realtime_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

uint64_t otelread_monotonic_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

uint64_t otelread_cpu_ns(void)
{
    return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec otelread_timespec(uint64_t duration_ns)
{
    return (struct timespec){.tv_sec = (time_t)(duration_ns / SECOND_NS),
                             .tv_nsec = (long)(duration_ns % SECOND_NS)};
}

void otelread_sleep_ns(uint64_t duration_ns)
{
    const struct timespec duration = otelread_timespec(duration_ns);

    (void)nanosleep(&duration, NULL);
}

bool otelread_patience_left(struct otelread_patience *patience)
{
    if (patience->tries == 0)
        patience->start_ns = otelread_boottime_ns();
    patience->tries++;
    if (patience->tries >= patience->tries_max)
        return false;
    if (patience->tries >= TRIES_MIN &&
        otelread_boottime_ns() - patience->start_ns >= patience->duration_ns)
        return false;
    if (patience->tries > TRIES_AT_ONCE)
        otelread_sleep_ns(PAUSE_NS);
    return true;
}

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
