/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Children that have nothing to publish: with OTELCTX_FORK=drop, or because the
 * parent published nothing. The shim makes no system call in them, so no
 * seccomp filter can hurt them.
 */

#include "tests/e2e/fork/fork_filter.h"

#include <sys/time.h>

TestSuite(fork_quiet, .timeout = 600);

static void expect_silent_children(int (*kill_at)(long))
{
    const int fault_of_parent =
        getenv("OTELCTX_FORK") ? AS_IT_SHOULD_BE : NO_CONTEXT;

    expect_silent_children_under(kill_at, fault_of_parent);
    expect_silent_child_under(kill_at, SYS_prctl, fault_of_parent);
}

Test(fork_quiet, a_child_lives_under_a_filter_that_kills_at_prctl)
{
    expect_silent_children(kill_past_libc);
}

static int kill_by_a_second_filter(long call)
{
    return kill_past_libc(SYS_reboot) || kill_past_libc(call);
}

Test(fork_quiet, a_child_lives_under_a_second_filter)
{
    expect_silent_children(kill_by_a_second_filter);
}

/* ---- In the middle of a publish ----------------------------------------- */

enum {
    HANDLER_FORKS = 1500
};
static volatile sig_atomic_t forks, bad_children, is_child;

static void fork_in_handler(int number)
{
    const struct itimerval soon = {.it_value = {0, 20 + forks * 7 % 80}};
    const pid_t child = fork();

    (void)number;
    if (child == 0) {
        is_child = 1;
        signal(SIGALRM, SIG_DFL);
        alarm(60);
        return; /* into the call that was interrupted */
    }
    bad_children += status_of(child) != AS_IT_SHOULD_BE;
    if (++forks < HANDLER_FORKS)
        setitimer(ITIMER_REAL, &soon, NULL);
}

/* The child may find its parent's context, dropped, but none of its own. */
Test(fork_quiet, a_child_that_returns_into_a_publish_may_publish)
{
    const struct sigaction action = {.sa_handler = fork_in_handler,
                                     .sa_flags = SA_RESTART};
    unsigned failures = 0;

    sigaction(SIGALRM, &action, NULL);
    raise(SIGALRM);
    do
        failures += otelctx_process_set("n", "1") || otelctx_process_publish();
    while (forks < HANDLER_FORKS && !is_child);
    if (is_child)
        _exit(failures || otelctx_process_publish() ? CALL_FAILED
                                                    : judge_self("1"));
    cr_expect_eq(bad_children, 0, "%d children", (int)bad_children);
    cr_expect_eq(failures, 0);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}
