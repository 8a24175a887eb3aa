/* SPDX-License-Identifier: Apache-2.0 */

/* Once a filter is installed, a child does not publish its parent's context. */

#include "tests/e2e/fork/fork_filter.h"

TestSuite(fork_filtered, .timeout = 600);

static int kill_by_prctl(long call)
{
    return install_filter(call, true);
}

Test(fork_filtered, a_child_has_no_context_under_a_filter_of_libcs_prctl)
{
    expect_silent_children_under(kill_by_prctl, AS_IT_SHOULD_BE);
}

Test(fork_filtered, a_child_has_no_context_under_a_filter_of_a_raw_system_call)
{
    expect_silent_children_under(kill_past_libc, AS_IT_SHOULD_BE);
}

/* The shim notices a filter that libc's prctl installs, even if another one was
 * there before the start. */
Test(fork_filtered, a_child_has_no_context_under_a_second_filter)
{
    cr_assert_eq(kill_past_libc(SYS_reboot), 0);
    expect_silent_children_under(kill_by_prctl, AS_IT_SHOULD_BE);
}
