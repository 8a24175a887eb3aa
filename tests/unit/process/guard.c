/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/guard.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>

#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"
#include "tests/e2e/hosts/publisher.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"

TestSuite(guard, .timeout = 60);
TestSuite(child, .timeout = 60);

static void start(bool republishes, bool yields)
{
    otelctx_guard_start(republishes);
    otelctx_rival_start(yields, false);
}

static void publish(void)
{
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(otelctx_guard_publish_at_start(), 0);
    otelctx_guard_leave();
    cr_assert(own_context());
}

static bool has_no_context(void)
{
    const struct otelctx_header *last;

    return own_contexts(&last) == 0;
}

static bool is_unlocked(void)
{
    return !otelctx_state_is_locked_by_me();
}

/* ---- The calls ----------------------------------------------------------- */

Test(guard, lets_one_in_at_a_time)
{
    start(true, true);
    cr_expect_eq(otelctx_guard_enter(), 0);
    cr_expect(otelctx_state_is_locked_by_me());
    cr_expect_eq(otelctx_guard_enter(), -EBUSY);
    otelctx_guard_leave();
    cr_expect(is_unlocked());
    cr_expect_eq(otelctx_guard_enter(), 0);
}

Test(guard, publishes_and_leaves)
{
    start(true, true);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_and_leave(), 0);
    cr_expect(own_context());
    cr_expect(is_unlocked());
}

Test(guard, leaves_though_it_cannot_publish)
{
    start(true, true);
    cr_assert_eq(filter_call(SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(filter_call(SYS_mmap, SECCOMP_RET_ERRNO | ENOMEM), 0);
    cr_expect_eq(otelctx_guard_publish_and_leave(), -ENOMEM);
    cr_expect(is_unlocked());
}

Test(guard, publishes_nothing_beside_another_publisher)
{
    start(true, true);
    cr_assert_eq(publisher_does("other", "raw"), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_at_start(), -ESTALE);
    otelctx_guard_leave();
    cr_expect_eq(own_context(), publisher_at);

    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_and_leave(), -ESTALE);
    cr_expect_eq(own_context(), publisher_at);
}

Test(guard, publishes_when_the_other_publisher_is_gone)
{
    start(true, true);
    cr_assert_eq(publisher_does("other", "raw"), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(otelctx_guard_publish_and_leave(), -ESTALE);
    cr_assert_eq(publisher_does("gone", NULL), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect_eq(otelctx_guard_publish_and_leave(), 0);
    cr_expect(own_context());
}

/* ---- A child of a fork that libc knows nothing of ------------------------ */

static bool has_a_context_after_a_call(void)
{
    if (!has_no_context() || otelctx_guard_enter())
        return false;
    otelctx_guard_leave();
    return own_context() && is_unlocked();
}

static bool has_a_context_once_it_is_noticed(void)
{
    if (!has_no_context())
        return false;
    otelctx_guard_notice_fork();
    return own_context() && is_unlocked();
}

Test(child, begins_with_a_context_of_its_own)
{
    start(true, true);
    publish();
    cr_expect(in_raw_child(has_a_context_after_a_call));
    cr_expect(in_raw_child(has_a_context_once_it_is_noticed));
    cr_expect(own_context());
}

static bool has_no_context_whatever_is_called(void)
{
    otelctx_guard_notice_fork();
    if (otelctx_guard_enter())
        return false;
    otelctx_guard_leave();
    return has_no_context() && is_unlocked();
}

Test(child, has_none_when_it_is_to_drop)
{
    start(false, true);
    publish();
    cr_expect(in_raw_child(has_no_context_whatever_is_called));
}

Test(child, has_none_when_its_parent_has_none)
{
    start(true, true);
    publish();
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_context_drop();
    otelctx_guard_leave();
    cr_expect(in_raw_child(has_no_context_whatever_is_called));
}

static bool notices_without_a_system_call(void)
{
    otelctx_guard_notice_fork();
    return !otelctx_state_is_used();
}

Test(child, of_a_process_that_does_not_use_the_state_does_not_either)
{
    start(true, true);
    cr_expect(in_strict_child(notices_without_a_system_call));
}

static bool has_a_context_beside_none(void)
{
    return has_a_context_after_a_call() && !otelctx_context_rival();
}

/* As publishers do, this one keeps its mapping from forked children. */
Test(child, has_a_context_though_its_parent_has_yielded)
{
    start(true, true);
    publish();
    cr_assert_eq(publisher_does("other", "raw"), 0);
    cr_assert(otelctx_rival_note(publisher_at));
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_guard_leave();
    cr_assert_eq(otelctx_context_rival(), publisher_at);
    cr_expect(in_raw_child(has_a_context_beside_none));
}

/* ---- Under a filter ------------------------------------------------------ */

Test(child, is_quiet_when_a_filter_came_and_there_is_something_to_publish)
{
    start(true, true);
    publish();
    cr_expect_eq(otelctx_guard_child_does(), OTELCTX_CHILD_PUBLISHES);
    otelctx_filter_note();
    cr_expect_eq(otelctx_guard_child_does(), OTELCTX_CHILD_MUST_BE_QUIET);
    otelctx_guard_start(false);
    cr_expect_eq(otelctx_guard_child_does(), OTELCTX_CHILD_DROPS);
}

static bool asks_nobody(void)
{
    return otelctx_guard_child_does() == OTELCTX_CHILD_PUBLISHES;
}

Test(child, asks_for_no_filter_when_there_is_nothing_to_publish)
{
    start(true, true);
    cr_expect(in_strict_child(asks_nobody));
}

/* Nearly all that publishing takes, and what asks for the filter. */
static bool lives_under_a_filter_that_kills(void)
{
    static const long calls[] = {SYS_memfd_create, SYS_mmap,
                                 SYS_ftruncate,    SYS_getrandom,
                                 SYS_openat,       SYS_clock_gettime};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (filter_call(calls[i], SECCOMP_RET_KILL_PROCESS))
            return false;
    otelctx_guard_notice_fork();
    return !otelctx_state_is_new_child() && !otelctx_context_is_shown();
}

Test(child, under_a_filter_that_came_later_has_no_context_and_lives)
{
    start(true, true);
    publish();
    cr_expect(in_raw_child(lives_under_a_filter_that_kills));
}

/* ---- A child that resumes a call ----------------------------------------- */

static bool leaves_with_a_context(void)
{
    otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    otelctx_guard_child_resume(otelctx_guard_child_does());
    otelctx_guard_leave();
    return own_context() && is_unlocked() && !otelctx_state_is_resumed();
}

Test(child, that_resumes_a_call_leaves_with_a_context_of_its_own)
{
    start(true, true);
    publish();
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_state_begin_handler_fork();
    cr_expect(in_child(leaves_with_a_context));
}

static bool leaves_with_a_context_beside_none(void)
{
    return leaves_with_a_context() && !otelctx_context_rival();
}

Test(child, that_resumes_a_call_has_one_though_its_parent_has_yielded)
{
    start(true, true);
    publish();
    cr_assert_eq(publisher_does("other", "raw"), 0);
    cr_assert_eq(otelctx_guard_enter(), 0);
    otelctx_context_yield(publisher_at);
    otelctx_state_begin_handler_fork();
    cr_expect(in_child(leaves_with_a_context_beside_none));
}
