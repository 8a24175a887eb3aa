/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/watch.h"

#include "shim/base/clock.h"
#include "shim/base/order.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"

static const uint64_t second_ns = 1000000000;

enum {
    CALLS_MAX = 64 /* between two readings of the clock */
};

static uint64_t started_ns; /* 0: no look is to come */
static uint64_t calls;
static bool is_cancelled; /* may precede otelctx_watch_start() */

/* A seccomp filter that came unseen may kill the process that looks. */
static bool may_look(void)
{
    return !is_cancelled && !otelctx_filter_may_come_unseen();
}

void otelctx_watch_start(uint64_t now_ns)
{
    if (may_look())
        otelctx_store_release(&started_ns, now_ns);
}

bool otelctx_watch_is_on(void)
{
    return otelctx_load_acquire(&started_ns) != 0;
}

static void clear_start(void)
{
    otelctx_store_release(&started_ns, 0);
}

/* A seccomp filter may kill all threads for any system call of the shim. So
 * wait here until another thread's look has ended. */
void otelctx_watch_cancel(void)
{
    const bool was_on = otelctx_watch_is_on();

    is_cancelled = true;
    clear_start();
    if (was_on && otelctx_guard_enter() == 0)
        otelctx_guard_leave();
}

/* True at calls 1, 2, 4, ..., 64, 128, 192, ...: the system call that follows
 * is then rare, but comes soon after the second both in a program that makes
 * few calls and in one that makes many at first and few later. Two threads may
 * count one call at the same time; no number is left out. */
static bool may_call_kernel(void)
{
    const uint64_t n = otelctx_load(&calls) + 1;

    otelctx_store(&calls, n);
    return (n & (n - 1)) == 0 || n % CALLS_MAX == 0;
}

/* Ask under the lock: another thread may have looked, or cancelled the look. */
static bool is_due(void)
{
    const uint64_t start_ns = otelctx_load_acquire(&started_ns);

    return start_ns != 0 && otelctx_clock_read() - start_ns >= second_ns;
}

bool otelctx_watch_is_over(void)
{
    if (!otelctx_watch_is_on())
        return true;
    if (!may_call_kernel() || otelctx_guard_try_enter() != 0)
        return false;
    if (is_due()) {
        otelctx_rival_check(OTELCTX_RIVAL_AT_WATCH);
        clear_start();
    }
    otelctx_guard_leave();
    return !otelctx_watch_is_on();
}

void otelctx_watch_return(void)
{
    if (may_look() && may_call_kernel())
        otelctx_guard_return();
}
