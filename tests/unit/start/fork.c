/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/fork.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "shim/process/context.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"

static void begin(void)
{
    otelctx_guard_start(true);
    otelctx_rival_start(true, true);
    otelctx_fork_start();
}

TestSuite(fork, .init = begin, .timeout = 60);

static void publish(void)
{
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_assert_eq(otelctx_guard_publish_at_start(), 0);
    otelctx_guard_leave();
    cr_assert(own_context());
}

static bool has_a_context(void)
{
    return own_context();
}

static bool has_no_context(void)
{
    const struct otelctx_header *last;

    return own_contexts(&last) == 0;
}

/* Without a look at the maps. */
static bool has_no_context_that_is_shown(void)
{
    return !otelctx_context_is_shown();
}

static bool can_call(void)
{
    if (otelctx_guard_enter())
        return false;
    otelctx_guard_leave();
    return true;
}

static bool has_a_context_and_can_call(void)
{
    return has_a_context() && can_call();
}

Test(fork, gives_the_child_a_context_before_it_returns)
{
    publish();
    cr_expect(in_child(has_a_context));
    cr_expect(in_child(has_a_context_and_can_call));
}

Test(fork, leaves_the_parent_its_context)
{
    const struct otelctx_header *before;

    publish();
    before = own_context();
    cr_expect(in_child(has_a_context));
    cr_expect_eq(own_context(), before);
    cr_expect(can_call());
}

static bool its_child_has_a_context(void)
{
    return in_child(has_a_context_and_can_call);
}

Test(fork, gives_a_childs_child_one_too)
{
    publish();
    cr_expect(in_child(its_child_has_a_context));
}

Test(fork, past_libc_gives_the_child_none_until_it_makes_a_call)
{
    publish();
    cr_expect(in_raw_child(has_no_context));
    cr_expect_not(in_raw_child(has_a_context_and_can_call));
}

static bool has_begun_nothing(void)
{
    return !otelctx_state_is_used() && has_no_context();
}

Test(fork, of_a_process_that_has_published_nothing_begins_nothing)
{
    cr_expect(in_child(has_begun_nothing));
    cr_expect_not(otelctx_state_is_used());
    cr_expect(in_child(can_call));
}

/* All that publishing takes; the child of this one makes no such call either,
 * because a filter came. */
static bool forks_under_a_filter_that_kills(void)
{
    static const long calls[] = {SYS_memfd_create, SYS_madvise,   SYS_ftruncate,
                                 SYS_openat,       SYS_getrandom, SYS_munmap,
                                 SYS_clock_gettime};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (filter_call(calls[i], SECCOMP_RET_KILL_PROCESS))
            return false;
    return in_child(has_no_context_that_is_shown);
}

Test(fork, makes_no_system_call_in_the_parent)
{
    publish();
    cr_expect(in_child(forks_under_a_filter_that_kills));
}

/* ---- While another thread is in a call ----------------------------------- */

static sem_t entered;

static void *enter_and_stay_for_a_while(void *unused)
{
    const struct timespec a_while = {.tv_nsec = 100000000};

    if (otelctx_guard_enter())
        return &entered;
    sem_post(&entered);
    nanosleep(&a_while, NULL);
    otelctx_guard_leave();
    return unused;
}

Test(fork, waits_for_a_thread_that_is_in_a_call)
{
    pthread_t thread;
    void *failed;

    publish();
    cr_assert_eq(
        pthread_create(&thread, NULL, enter_and_stay_for_a_while, NULL), 0);
    sem_wait(&entered);
    cr_expect(in_child(has_a_context_and_can_call));
    pthread_join(thread, &failed);
    cr_expect_null(failed);
}

/* ---- By a signal handler that interrupts a call -------------------------- */

static bool goes_on_with_the_call(void)
{
    if (!has_a_context() || !otelctx_state_is_locked_by_me())
        return false;
    otelctx_guard_leave();
    return has_a_context_and_can_call();
}

Test(fork, in_the_middle_of_a_call_lets_child_and_parent_go_on_with_it)
{
    publish();
    cr_assert_eq(otelctx_guard_enter(), 0);
    cr_expect(in_child(goes_on_with_the_call));
    cr_expect(otelctx_state_is_locked_by_me());
    otelctx_guard_leave();
    cr_expect(has_a_context_and_can_call());
    cr_expect(in_child(has_a_context_and_can_call));
}

/* ---- The lock of the start ----------------------------------------------- */

static sem_t never;

static void *start_for_good(void *unused)
{
    if (otelctx_lock(&otelctx_start_lock) == 0) {
        sem_post(&entered);
        sem_wait(&never);
    }
    return unused;
}

static bool start_lock_is_free(void)
{
    return otelctx_lock(&otelctx_start_lock) == 0;
}

Test(fork, frees_the_lock_of_a_start_whose_thread_the_child_does_not_have)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, start_for_good, NULL), 0);
    sem_wait(&entered);
    cr_expect(in_child(start_lock_is_free));
    cr_expect(otelctx_start_lock.word != 0, "the parent's thread has it");
}

static bool start_lock_is_mine(void)
{
    return otelctx_lock_is_mine(&otelctx_start_lock);
}

Test(fork, keeps_the_lock_of_a_start_that_the_child_is_in)
{
    cr_assert_eq(otelctx_lock(&otelctx_start_lock), 0);
    cr_expect(in_child(start_lock_is_mine));
}
