/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/watch.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/order.h"
#include "shim/process/context.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"
#include "shim/start/prctl.h"
#include "tests/e2e/hosts/publisher.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"

enum {
    CALLS = 10000 /* some of which read the clock */
};
static const uint64_t second_ns = 1000000000;

/* A process that has published `ago_ns` ago, and whose SDK publishes past libc
 * now. */
static void start(uint64_t ago_ns)
{
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_rival_start(true, true);
    cr_assert_eq(otelctx_context_publish(), 0);
    otelctx_guard_leave();
    otelctx_watch_start(otelctx_clock_read() - ago_ns);
    cr_assert_eq(publisher_does("other", "raw"), 0);
}

static bool has_yielded(void)
{
    return otelctx_context_has_yielded() && own_context() == publisher_at;
}

TestSuite(watch, .timeout = 60);

Test(watch, is_over_when_nothing_was_published)
{
    cr_expect_not(otelctx_watch_is_on());
    cr_expect(otelctx_watch_is_over());
}

Test(watch, finds_a_publisher_at_the_first_call_after_a_second)
{
    start(second_ns);
    cr_expect(otelctx_watch_is_on());
    cr_expect(otelctx_watch_is_over());
    cr_expect(has_yielded());
    cr_expect_not(otelctx_watch_is_on());
}

/* A slow machine may take longer than that to ask. */
Test(watch, does_not_look_before_that)
{
    const uint64_t begin_ns = otelctx_clock_read();
    bool is_over;

    start(0);
    is_over = otelctx_watch_is_over();
    cr_expect(!is_over || otelctx_clock_read() - begin_ns >= second_ns);
    cr_expect_eq(otelctx_context_has_yielded(), is_over);
    cr_expect_eq(otelctx_watch_is_on(), !is_over);
}

/* Also when there were many calls before. */
Test(watch, reads_the_clock_at_one_of_64_calls)
{
    unsigned calls = 0;

    start(0);
    for (unsigned i = 0; i < CALLS; i++)
        (void)otelctx_watch_is_over();
    otelctx_watch_start(otelctx_clock_read() - second_ns);
    while (!otelctx_watch_is_over())
        calls++;
    cr_expect_eq(calls, 64 - CALLS % 64 - 1);
    cr_expect(has_yielded());
}

Test(watch, waits_for_a_call_that_does_not_interrupt_a_publication)
{
    start(second_ns);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_not(otelctx_watch_is_over());
    otelctx_guard_leave();
    while (!otelctx_watch_is_over())
        continue;
    cr_expect(has_yielded());
}

static uint64_t result;

enum {
    NO_RESULT,
    NOT_OVER,
    OVER
};

/* Dies if it waits for the lock, and does not return: that may wait, too. */
static void *call_without_futex(void *unused)
{
    cr_assert_eq(filter_call(SYS_futex, SECCOMP_RET_KILL_PROCESS), 0);
    otelctx_store_release(&result, otelctx_watch_is_over() ? OVER : NOT_OVER);
    pause();
    return unused;
}

static bool call_beside_a_publication_waits_not(void)
{
    pthread_t thread;

    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(pthread_create(&thread, NULL, call_without_futex, NULL), 0);
    while (otelctx_load_acquire(&result) == NO_RESULT)
        (void)sched_yield();
    return otelctx_load_acquire(&result) == NOT_OVER;
}

/* That thread may be in fork(), and wait for a lock of the caller's. */
Test(watch, does_not_wait_for_another_thread)
{
    start(second_ns);
    cr_expect(in_child(call_beside_a_publication_waits_not));
}

static uint64_t is_held;

static void *cancel(void *unused)
{
    otelctx_watch_cancel();
    cr_expect_eq(otelctx_load_acquire(&is_held), 0);
    return unused;
}

Test(watch, is_cancelled_after_a_look_that_is_under_way)
{
    pthread_t thread;

    start(second_ns);
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_store_release(&is_held, 1);
    cr_assert_eq(pthread_create(&thread, NULL, cancel, NULL), 0);
    while (otelctx_watch_is_on())
        (void)sched_yield();
    (void)usleep(20000); /* who does not wait has returned */
    otelctx_store_release(&is_held, 0);
    otelctx_guard_leave();
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* By a constructor that ran before the shim's. */
Test(watch, may_be_cancelled_before_the_start)
{
    otelctx_watch_cancel();
    start(second_ns);
    cr_expect_not(otelctx_watch_is_on());
}

static void *call(void *unused)
{
    while (!otelctx_watch_is_over())
        continue;
    return unused;
}

Test(watch, may_end_in_several_threads_at_once)
{
    pthread_t threads[8];

    start(second_ns);
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, call, NULL), 0);
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    cr_expect(has_yielded());
}

static bool child_finds_its_own(void)
{
    return publisher_does("other", "raw") == 0 && otelctx_watch_is_over() &&
           has_yielded();
}

Test(watch, goes_on_in_a_forked_child)
{
    start(second_ns);
    cr_expect(in_child(child_finds_its_own));
    cr_expect(otelctx_watch_is_on());
}

/* A filter may kill who opens a file, or asks for the filter. */
Test(watch, is_cancelled_by_a_filter)
{
    start(second_ns);
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (!otelctx_prctl_is_hosts()) /* but a sanitizer's */
        otelctx_watch_cancel();
    cr_assert_eq(filter_call(SYS_openat, SECCOMP_RET_KILL_PROCESS), 0);
    cr_expect(otelctx_watch_is_over());
    cr_expect_not(otelctx_context_has_yielded());
}
