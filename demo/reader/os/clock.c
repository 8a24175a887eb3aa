/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/clock.h"

#define SECOND_NS     1000000000U
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
