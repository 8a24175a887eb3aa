/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/state.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/child.h"
#include "tests/support/filter.h"

TestSuite(state, .timeout = 60);
TestSuite(child, .timeout = 60);
TestSuite(handler_fork, .timeout = 60);

static uint64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Publish a byte, as the caller that holds the lock does. */
static void publish(void)
{
    struct otelctx_publication *const p = otelctx_state_publication();
    uint8_t *room;

    cr_assert_eq(otelctx_publication_room(p, 1, otelctx_state_page_size, &room,
                                          otelctx_state_failure()),
                 0);
    *room = 'x';
    otelctx_publication_commit(p, room, 1, otelctx_state_now());
}

static bool has_nothing(void)
{
    const struct otelctx_publication *const p = otelctx_state_publication();

    return otelctx_state_is_new_child() && !otelctx_state_has_own_id() &&
           !p->mapping.at && p->last_ns == 0;
}

/* ---- The lock ------------------------------------------------------------ */

Test(state, is_used_from_the_first_lock_on)
{
    cr_expect_not(otelctx_state_is_used());
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_state_unlock();
    cr_expect(otelctx_state_is_used());
    cr_expect_eq(otelctx_state_page_size, (uint64_t)getpagesize());
}

Test(state, of_a_process_that_begins_is_no_forked_childs)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    cr_expect_not(otelctx_state_is_new_child());
    cr_expect(otelctx_state_has_own_id());
    cr_expect_not(otelctx_state_is_resumed());
    cr_expect_not(otelctx_state_is_in_handler_fork());
}

Test(state, is_locked_once)
{
    cr_expect_not(otelctx_state_is_locked_by_me());
    cr_assert_eq(otelctx_state_lock(), 0);
    cr_expect(otelctx_state_is_locked_by_me());
    cr_expect_eq(otelctx_state_lock(), -EBUSY);
    otelctx_state_unlock();
    cr_expect_not(otelctx_state_is_locked_by_me());
    cr_expect_eq(otelctx_state_lock(), 0);
}

static void *lock_and_count(void *counter)
{
    for (unsigned i = 0; i < 10000; i++) {
        if (otelctx_state_lock())
            return counter;
        ++*(unsigned long *)counter;
        otelctx_state_unlock();
    }
    return NULL;
}

Test(state, is_begun_by_one_of_several_threads)
{
    pthread_t threads[4];
    unsigned long counter = 0;
    void *failed;

    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(
            pthread_create(&threads[i], NULL, lock_and_count, &counter), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
    cr_expect_eq(counter, 40000);
}

Test(state, has_one_time_for_all_that_a_call_does)
{
    const uint64_t before = clock_now();
    uint64_t now;

    cr_assert_eq(otelctx_state_lock(), 0);
    now = otelctx_state_now();
    cr_expect_geq(now, before);
    cr_expect_leq(now, clock_now());
    usleep(1000);
    cr_expect_eq(otelctx_state_now(), now);
    publish();
    otelctx_state_unlock();

    cr_assert_eq(otelctx_state_lock(), 0);
    cr_expect_gt(otelctx_state_now(), now, "the next call has another time");
    cr_expect_leq(otelctx_state_now(), clock_now());
}

/* Of any size: what is written there changes nothing else. */
Test(state, has_scratch_memory_that_nothing_else_uses)
{
    static char before[sizeof(otelctx_state_version)];
    static const struct otelctx_key_map no_keys;
    struct otelctx_wiped wiped;

    cr_assert_eq(otelctx_state_lock(), 0);
    publish();
    memcpy(before, otelctx_state_version, sizeof(before));
    wiped = otelctx_state.wiped;
    for (size_t size = 1; size <= OTELCTX_PAYLOAD_MAX; size += 5)
        memset(otelctx_state_scratch(size), 0xaa, size);
    memset(otelctx_state_scratch(OTELCTX_PAYLOAD_MAX), 0xaa,
           OTELCTX_PAYLOAD_MAX);
    cr_expect_arr_eq((const char *)&wiped, (const char *)&otelctx_state.wiped,
                     sizeof(wiped));
    cr_expect_eq(memcmp(before, otelctx_state_version, sizeof(before)), 0);
    cr_expect_eq(memcmp(&no_keys, &otelctx_state_key_map, sizeof(no_keys)), 0);
}

/* ---- A forked child ------------------------------------------------------ */

static bool child_has_nothing_and_can_lock(void)
{
    return otelctx_state_lock() == 0 && has_nothing() && clock_now() > 0 &&
           otelctx_state_now() > 0;
}

/* Lock in another thread, which the child does not have. */
static void *lock_for_good(void *unused)
{
    if (otelctx_state_lock() == 0)
        publish();
    return unused;
}

static void lock_elsewhere(void)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, lock_for_good, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert(otelctx_state_publication()->mapping.at);
}

Test(child, has_nothing_of_its_parents_and_no_lock)
{
    lock_elsewhere();
    cr_expect(in_child(child_has_nothing_and_can_lock));
    cr_expect(in_raw_child(child_has_nothing_and_can_lock));
    cr_expect(otelctx_state_publication()->mapping.at, "the parent keeps it");
}

/* Linux before 4.14. */
Test(child, has_nothing_either_where_the_kernel_wipes_no_memory)
{
    cr_assert_eq(filter_call(SYS_madvise, SECCOMP_RET_ERRNO | EINVAL), 0);
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_state_publication()->last_ns = 1;
    cr_expect(in_child(child_has_nothing_and_can_lock));
    cr_expect(in_raw_child(child_has_nothing_and_can_lock));
    cr_expect_eq(otelctx_state_publication()->last_ns, 1);
}

static bool child_keeps_it(void)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_state_notice_child();
    otelctx_state_publication()->last_ns = 2;
    otelctx_state_unlock();
    return otelctx_state_lock() == 0 && !otelctx_state_is_new_child() &&
           otelctx_state_publication()->last_ns == 2;
}

Test(child, is_wiped_once_where_the_kernel_wipes_no_memory)
{
    cr_assert_eq(filter_call(SYS_madvise, SECCOMP_RET_ERRNO | EINVAL), 0);
    cr_assert_eq(otelctx_state_lock(), 0);
    cr_expect(in_child(child_keeps_it));
}

/* As an emulator of user programs does, whatever madvise(2) returned there. */
static void let_children_inherit(void)
{
    const struct otelctx_mapping *const m =
        &otelctx_state_publication()->mapping;

    cr_assert_eq(
        madvise(&otelctx_state, OTELCTX_WIPED_SIZE, 19 /* KEEPONFORK */), 0);
    cr_assert_eq(madvise(m->at, m->size, MADV_DOFORK), 0);
}

static bool child_wipes(void)
{
    const void *const at = otelctx_state_publication()->mapping.at;

    if (!otelctx_sys_readable(at))
        return false; /* it was not inherited */
    otelctx_state_wipe_inherited();
    return !otelctx_sys_readable(at) && child_has_nothing_and_can_lock();
}

Test(child, wipes_and_unmaps_what_it_inherited_all_the_same)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    publish();
    let_children_inherit();
    cr_expect(in_child(child_wipes));
    cr_expect(otelctx_sys_readable(otelctx_state_publication()->mapping.at));
}

static bool child_wipes_and_so_does_its_child(void)
{
    otelctx_state_wipe_inherited();
    if (otelctx_state_lock())
        return false;
    otelctx_state_publication()->last_ns = 2;
    return in_child(child_has_nothing_and_can_lock);
}

Test(child, of_a_child_that_wiped_has_nothing_either)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    publish();
    let_children_inherit();
    cr_expect(in_child(child_wipes_and_so_does_its_child));
}

/* ---- A child that was forked while a thread began ------------------------ */

static sem_t in_the_middle, never;

static void stop_there(int number)
{
    (void)number;
    sem_post(&in_the_middle);
    sem_wait(&never);
}

/* With a filter of its own, which stops it in madvise(2). */
static void *begin_and_stop(void *unused)
{
    if (filter_call(SYS_madvise, SECCOMP_RET_TRAP) == 0)
        (void)otelctx_state_lock();
    return unused;
}

static bool child_can_begin(void)
{
    otelctx_state_begin_unused_child();
    return otelctx_state_lock() == 0 && otelctx_state_is_used();
}

Test(child, of_a_process_in_which_a_thread_was_about_to_begin_can_begin)
{
    const struct sigaction action = {.sa_handler = stop_there};
    pthread_t thread;

    sigaction(SIGSYS, &action, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, begin_and_stop, NULL), 0);
    sem_wait(&in_the_middle);
    cr_assert_not(otelctx_state_is_used());
    cr_expect(in_child(child_can_begin));
}

/* ---- A fork by a signal handler that interrupted the owner --------------- */

static bool child_has_a_copy(void)
{
    const struct otelctx_publication *const p = otelctx_state_publication();

    if (!otelctx_state_is_in_handler_fork())
        return false;
    otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    return otelctx_state_is_locked_by_me() && !otelctx_state_is_new_child() &&
           p->last_ns != 0 && otelctx_sys_readable(p->mapping.at);
}

Test(handler_fork, gives_the_child_a_copy_of_all)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    publish();
    otelctx_state_begin_handler_fork();
    cr_expect(otelctx_state_is_in_handler_fork());
    cr_expect(in_child(child_has_a_copy));
}

static bool child_of_a_later_fork(void)
{
    return has_nothing() && !otelctx_state_is_in_handler_fork();
}

Test(handler_fork, leaves_things_as_they_were_for_the_next_one)
{
    const void *at;

    cr_assert_eq(otelctx_state_lock(), 0);
    publish();
    at = otelctx_state_publication()->mapping.at;
    otelctx_state_begin_handler_fork();
    otelctx_state_end_handler_fork();
    cr_expect_not(otelctx_state_is_in_handler_fork());
    cr_expect_eq(otelctx_state_handler_forks(), 1);
    cr_expect(in_child(child_of_a_later_fork));
    cr_expect_eq(otelctx_state_publication()->mapping.at, at);
}

static bool child_keeps_its_copy(void)
{
    otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    otelctx_state_unlock();
    return otelctx_state_lock() == 0 && !otelctx_state_is_new_child() &&
           otelctx_state_publication()->last_ns == 1;
}

Test(handler_fork, gives_a_copy_that_stays_where_the_kernel_wipes_no_memory)
{
    cr_assert_eq(filter_call(SYS_madvise, SECCOMP_RET_ERRNO | EINVAL), 0);
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_state_publication()->last_ns = 1;
    otelctx_state_begin_handler_fork();
    cr_expect(in_child(child_keeps_its_copy));
}
