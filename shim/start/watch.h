/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_START_WATCH_H
#define OTELCTX_START_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One look for another publisher, a second after the shim has published. An SDK
 * that names its mapping without libc's prctl() is noticed by nobody; and a
 * program that neither updates its context nor forks would keep both contexts.
 *
 * The shim has no thread and no timer, so a thread call does it, one of the
 * first 64 once the second is over. Until then all calls take their general
 * path, which asks here: the fast paths know of no clock.
 */

/* The shim has published at that time, of CLOCK_BOOTTIME in nanoseconds. */
void otelctx_watch_start(uint64_t now_ns);

/* Is the look still to come? */
bool otelctx_watch_is_on(void);

/* Never look: a seccomp filter may kill the process for it. Once this has
 * returned, no thread looks. Nor does one in a process that started with
 * no-new-privs. */
void otelctx_watch_cancel(void);

/* At a call. Looks if the second is over. Returns
 * !otelctx_watch_is_on(). Async-signal-safe, and waits for nobody: while a
 * thread publishes or forks, the look is left to a later call. */
bool otelctx_watch_is_over(void);

/* At a call after that, while another publisher's context counts: one of 64
 * calls asks whether that one is gone. Async-signal-safe, and waits for nobody.
 */
void otelctx_watch_return(void);

#endif
