/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where children have nothing to publish, the shim makes no system call for
 * them, and no filter does harm: with OTELCTX_FORK=drop, or as nothing is
 * published in the parent either.
 */

#include "tests/e2e/fork_filter.h"

TestSuite(fork_quiet, .timeout = 120);

static void expect_silent_children(int (*kill_at)(long))
{
    const int fault_of_parent =
        getenv("OTELCTX_FORK") ? AS_IT_SHOULD_BE : NO_CONTEXT;

    expect_silent_children_under(kill_at, fault_of_parent);
    expect_silent_child_under(kill_at, SYS_prctl, fault_of_parent);
}

Test(fork_quiet, a_filter_may_kill_for_any_system_call_even_prctl)
{
    expect_silent_children(kill_past_libc);
}

static int kill_by_a_second_filter(long call)
{
    return kill_past_libc(SYS_reboot) || kill_past_libc(call);
}

Test(fork_quiet, so_may_one_on_top_of_another)
{
    expect_silent_children(kill_by_a_second_filter);
}
