/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One look for another publisher, a second after the shim has published. The
 * shim does not notice an SDK that names its mapping without libc's prctl().
 * Without this look, a program that neither updates its context nor forks would
 * keep both contexts.
 *
 * The shim has no thread and no timer, so one of the program's first 64 calls
 * for a thread after that second looks. Until then all these calls take their
 * general path, which asks here: the fast paths read no clock.
 */

/* The shim has published at now_ns of CLOCK_BOOTTIME. */
void otelctx_watch_start(uint64_t now_ns);

/* Return whether the look is still to come. */
bool otelctx_watch_is_on(void);

/* Never look, because a seccomp filter may kill the process for a look. No
 * thread looks after this has returned. A process that started with
 * no-new-privs never looks either. */
void otelctx_watch_cancel(void);

/* Call at each call for a thread: looks if the second is over. Returns
 * !otelctx_watch_is_on(). Async-signal-safe, and never waits: while a thread
 * publishes or forks, a later call looks. */
bool otelctx_watch_is_over(void);

/* Call at each call for a thread after the look: one of 64 asks whether the
 * other publisher's context, if one counts, is gone. Async-signal-safe, and
 * never waits. */
void otelctx_watch_return(void);
