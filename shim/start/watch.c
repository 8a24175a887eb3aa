/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/watch.h"

#include "shim/base/clock.h"
#include "shim/base/order.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"

static const uint64_t second_ns = 1000000000;

enum {
    CALLS_MAX = 64 /* from one reading of the clock to the next */
};

static uint64_t started_ns; /* 0: there is no look to come */
static uint64_t calls;
static bool is_cancelled; /* perhaps before the start */

/* Never where the host may have installed a filter that kills for a look. */
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

static void end(void)
{
    otelctx_store_release(&started_ns, 0);
}

/* A filter may allow no system call of the shim's, and may be for all threads:
 * so the look that another thread makes just now ends first. */
void otelctx_watch_cancel(void)
{
    const bool was_on = otelctx_watch_is_on();

    is_cancelled = true;
    end();
    if (was_on && otelctx_guard_enter() == 0)
        otelctx_guard_leave();
}

/* What comes next takes a system call. Calls 1, 2, 4, ..., 64, 128, 192, ...
 * make it: a program that makes few calls, and one that makes many at first and
 * few later, look soon after the second. Two threads at once may count one
 * call; no number is left out. */
static bool may_call_kernel(void)
{
    const uint64_t n = otelctx_load(&calls) + 1;

    otelctx_store(&calls, n);
    return (n & (n - 1)) == 0 || n % CALLS_MAX == 0;
}

/* Under the lock: another thread may have looked, or cancelled it. */
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
        end();
    }
    otelctx_guard_leave();
    return !otelctx_watch_is_on();
}

void otelctx_watch_return(void)
{
    if (may_look() && may_call_kernel())
        otelctx_guard_return();
}
