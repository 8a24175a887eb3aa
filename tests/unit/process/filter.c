/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/filter.h"

#include <criterion/criterion.h>

#include "tests/support/filter.h"

/* One that allows everything. */
static void install(void)
{
    cr_assert_eq(filter_call(-1, SECCOMP_RET_ALLOW), 0);
}

Test(filter, has_not_come_when_there_is_none)
{
    otelctx_filter_start();

    cr_expect_not(otelctx_filter_came());
}

Test(filter, has_come_when_it_is_installed_past_libc)
{
    otelctx_filter_start();
    install();

    cr_expect(otelctx_filter_came());
}

Test(filter, has_come_when_the_host_asked_for_one)
{
    otelctx_filter_start();
    otelctx_filter_note();

    cr_expect(otelctx_filter_came());
}

Test(filter, that_was_there_before_the_start_does_not_count)
{
    install();
    otelctx_filter_start();

    cr_expect_not(otelctx_filter_came());
}

Test(filter, on_top_of_one_from_before_the_start_counts_when_noted)
{
    install();
    otelctx_filter_start();
    install();
    otelctx_filter_note();

    cr_expect(otelctx_filter_came());
}

Test(filter, has_come_also_when_the_shim_starts_again)
{
    otelctx_filter_start();
    install();
    otelctx_filter_start();

    cr_expect(otelctx_filter_came());
}

Test(filter, that_kills_who_asks_the_kernel_is_noticed_without_asking)
{
    otelctx_filter_start();
    otelctx_filter_note();
    cr_assert_eq(filter_call(SYS_prctl, SECCOMP_RET_KILL_PROCESS), 0);

    cr_expect(otelctx_filter_came());
}

/* ---- Without asking for the mode at the start ---------------------------- */

Test(filter, from_before_does_not_count_when_no_new_privs_comes_with_notice)
{
    otelctx_filter_start();
    otelctx_filter_expect();
    cr_assert_eq(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_expect_not(otelctx_filter_came());
    install();
    cr_expect(otelctx_filter_came());
}

Test(filter, has_not_come_because_of_no_new_privs_alone)
{
    otelctx_filter_start();
    cr_assert_eq(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_expect_not(otelctx_filter_came());
}

Test(filter, may_come_unseen_under_inherited_no_new_privs)
{
    cr_assert_eq(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    otelctx_filter_start();
    cr_expect(otelctx_filter_may_come_unseen());
}
