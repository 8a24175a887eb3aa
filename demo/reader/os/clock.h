/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* The clock of published_at_ns. */
uint64_t otelread_boottime_ns(void);

/* The clock of the draft's. */
uint64_t otelread_realtime_ns(void);

/* For measuring how long something took. */
uint64_t otelread_monotonic_ns(void);

/* Processor time of this process. */
uint64_t otelread_cpu_ns(void);

struct timespec otelread_timespec(uint64_t duration_ns);

/* Sleeps; a signal cuts it short. */
void otelread_sleep_ns(uint64_t duration_ns);

/* How often, and for how long, to retry while a writer is updating. */
struct otelread_patience {
    unsigned tries_max;
    uint64_t duration_ns;
    unsigned tries; /* so far */
    uint64_t start_ns;
};

/* For a reader that reads once, and for one that polls. */
#define OTELREAD_PATIENCE_LONG                                                 \
    ((struct otelread_patience){.tries_max = 1000, .duration_ns = 100000000})
#define OTELREAD_PATIENCE_SHORT                                                \
    ((struct otelread_patience){.tries_max = 20, .duration_ns = 5000000})

/*
 * Waits a little before the next try; not at all before the first few. Returns
 * false when the tries or the time are used up. Ten tries are always allowed:
 * the reader itself may not have been scheduled for all that time.
 */
bool otelread_patience_left(struct otelread_patience *patience);

/*
 * How far CLOCK_BOOTTIME of a thread is ahead of the caller's. It differs in
 * time namespaces with different offsets (time_namespaces(7)). Returns 0 when
 * the kernel does not tell.
 */
int64_t otelread_boottime_ahead_ns(pid_t task);
