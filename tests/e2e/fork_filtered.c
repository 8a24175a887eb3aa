/* SPDX-License-Identifier: Apache-2.0 */

/* What is published is not published in children once there is a filter. */

#include "tests/e2e/fork_filter.h"

TestSuite(fork_filtered, .timeout = 120);

static int kill_by_prctl(long call)
{
    return install_filter(call, true);
}

Test(fork_filtered, under_a_filter_that_prctl_installed_the_child_lives_without)
{
    expect_silent_children_under(kill_by_prctl, AS_IT_SHOULD_BE);
}

Test(fork_filtered, under_a_filter_of_a_raw_system_call_the_child_lives_without)
{
    expect_silent_children_under(kill_past_libc, AS_IT_SHOULD_BE);
}

/* What prctl saw counts, also where the mode was 2 before the first context. */
Test(fork_filtered, under_a_second_filter_of_prctls_the_child_lives_without)
{
    cr_assert_eq(kill_past_libc(SYS_reboot), 0);
    expect_silent_children_under(kill_by_prctl, AS_IT_SHOULD_BE);
}
