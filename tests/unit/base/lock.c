/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/lock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 8,
    ROUNDS = 100000
};

static struct otelctx_lock lock;
static unsigned long counter;

/* Increment the counter, sometimes with a switch of threads in the middle. */
static void count_one(int round)
{
    const unsigned long seen = counter;

    if (round % 64 == 0)
        sched_yield();
    counter = seen + 1;
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (otelctx_lock(&lock))
            return &lock;
        count_one(i);
        otelctx_unlock(&lock);
    }
    return unused;
}

/* The ids of threads that take the lock once. */
static pid_t wanting[THREADS];

static void *want(void *id)
{
    __atomic_store_n((pid_t *)id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    if (otelctx_lock(&lock))
        return &lock;
    counter++;
    otelctx_unlock(&lock);
    return NULL;
}

/* Take the lock once, and keep it for as long as many sleeps of a waiter. */
static void *keep(void *unused)
{
    if (otelctx_lock(&lock))
        return &lock;
    usleep(300000);
    otelctx_unlock(&lock);
    return unused;
}

/* Take the lock once, in a thread whose seccomp filter refuses futex. */
static void *want_without_futex(void *unused)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int result;

    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SYS_futex, 0) ||
        seccomp_load(filter))
        return unused;
    result = otelctx_lock(&lock);
    seccomp_release(filter);
    return result == -EBUSY ? &lock : unused;
}

/* Is the thread in a futex call? */
static bool sleeps(const pid_t *id)
{
    char path[64], call[16] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/syscall",
             __atomic_load_n(id, __ATOMIC_ACQUIRE));
    file = fopen(path, "r");
    if (!file)
        return false;
    if (fscanf(file, "%15s", call) != 1)
        call[0] = '\0';
    fclose(file);
    return atoi(call) == SYS_futex;
}

static void wait_until_it_sleeps(const pid_t *id)
{
    while (!sleeps(id))
        sched_yield();
}

/* Take the lock, and start a thread that waits for it. Returns when it does. */
static pthread_t start_one_who_waits(void)
{
    pthread_t thread;

    cr_assert_eq(otelctx_lock(&lock), 0);
    cr_assert_eq(pthread_create(&thread, NULL, want, &wanting[0]), 0);
    wait_until_it_sleeps(&wanting[0]);
    return thread;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void nothing(int number)
{
    (void)number;
}

Test(lock, lets_one_thread_in_at_a_time, .timeout = 600)
{
    pthread_t threads[THREADS];
    void *failed;

    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
    cr_expect_eq(counter, (unsigned long)THREADS * ROUNDS);
    cr_expect_eq(lock.word, 0);
}

Test(lock, wakes_all_who_sleep_one_after_the_other, .timeout = 120)
{
    pthread_t threads[THREADS];
    void *failed;

    cr_assert_eq(otelctx_lock(&lock), 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, want, &wanting[i]), 0);
    for (int i = 0; i < THREADS; i++)
        wait_until_it_sleeps(&wanting[i]);
    cr_expect_eq(counter, 0);

    otelctx_unlock(&lock);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
    cr_expect_eq(counter, THREADS);
    cr_expect_eq(lock.word, 0);
}

Test(lock, tells_its_owner_although_others_wait, .timeout = 120)
{
    const pthread_t thread = start_one_who_waits();

    cr_expect_eq(otelctx_lock(&lock), -EBUSY);

    otelctx_unlock(&lock);
    pthread_join(thread, NULL);
}

Test(lock, tells_its_owner_instead_of_waiting_for_ever)
{
    cr_assert_eq(otelctx_lock(&lock), 0);
    cr_expect_eq(otelctx_lock(&lock), -EBUSY);

    otelctx_unlock(&lock);
    cr_expect_eq(otelctx_lock(&lock), 0);
}

Test(lock, lets_all_in_however_long_they_queue, .timeout = 120)
{
    pthread_t threads[THREADS];
    void *failed;

    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, keep, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
}

/* During the two seconds the owner cannot unlock. */
Test(lock, does_not_count_the_time_that_the_process_is_stopped, .timeout = 120)
{
    const pthread_t thread = start_one_who_waits();
    pid_t stopper;
    void *failed;

    stopper = fork();
    cr_assert_geq(stopper, 0);
    if (stopper == 0) {
        kill(getppid(), SIGSTOP);
        sleep(2);
        _exit(kill(getppid(), SIGCONT));
    }
    waitpid(stopper, NULL, 0);

    otelctx_unlock(&lock);
    pthread_join(thread, &failed);
    cr_expect_null(failed);
}

/* A signal ends a sleep early. */
Test(lock, gives_up_whatever_signals_come, .timeout = 120)
{
    const double before = seconds();
    const pthread_t thread = start_one_who_waits();
    void *failed = NULL;

    signal(SIGUSR1, nothing);
    while (pthread_tryjoin_np(thread, &failed) != 0) {
        pthread_kill(thread, SIGUSR1);
        usleep(1500);
    }
    cr_expect_eq(failed, &lock);
    cr_expect_geq(seconds() - before, 1.0);
}

Test(lock, gives_up_where_one_may_not_wait, .timeout = 120)
{
    pthread_t thread;
    void *failed;

    cr_assert_eq(otelctx_lock(&lock), 0);
    cr_assert_eq(pthread_create(&thread, NULL, want_without_futex, NULL), 0);
    pthread_join(thread, &failed);
    cr_expect_eq(failed, &lock);
}

Test(lock, is_free_in_a_page_of_zeros)
{
    struct otelctx_lock wiped = {0};

    cr_expect_eq(otelctx_lock(&wiped), 0);
}

/* ---- Processes that share memory and the thread pointer ------------------ */

static int take_and_give_back(void *unused)
{
    const int err = otelctx_lock(&lock);

    (void)unused;
    if (!err)
        otelctx_unlock(&lock);
    return err ? 1 : 0;
}

/* Without CLONE_SETTLS, and with a stack far from this one. */
static pid_t clone_with_memory(int (*function)(void *))
{
    enum {
        STACK_SIZE = 64 << 10
    };
    char *const stack = malloc(STACK_SIZE);

    return clone(function, stack + STACK_SIZE, CLONE_VM | SIGCHLD, NULL);
}

Test(lock, a_process_with_the_owners_thread_pointer_waits, .timeout = 60)
{
    pid_t child;
    int status;

    cr_assert_eq(otelctx_lock(&lock), 0);
    child = clone_with_memory(take_and_give_back);
    cr_assert_gt(child, 0);
    while (!sleeps(&child))
        sched_yield();
    otelctx_unlock(&lock);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}

static volatile int result_in_handler;

static void lock_in_handler(int number)
{
    (void)number;
    result_in_handler = otelctx_lock(&lock);
}

/* How often the calling thread has slept. */
static long sleeps_of_mine(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void expect_refusal_in_handler(int flags)
{
    const struct sigaction action = {.sa_handler = lock_in_handler,
                                     .sa_flags = flags};
    const long before = sleeps_of_mine();

    cr_assert_eq(otelctx_lock(&lock), 0);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    cr_expect_eq(result_in_handler, -EBUSY);
    cr_expect(otelctx_lock_is_mine(&lock));
    cr_expect_lt(sleeps_of_mine() - before, 100, "it waited for itself");
}

Test(lock, refuses_the_owners_signal_handler_at_once)
{
    expect_refusal_in_handler(0);
}

Test(lock, also_when_that_has_a_stack_of_its_own)
{
    static char memory[64 << 10];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

    sigaltstack(&stack, NULL);
    expect_refusal_in_handler(SA_ONSTACK);
}

/* ---- Where the kernel does not tell of the handler's stack --------------- */

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static volatile bool is_mine_in_handler;

static void lock_and_ask_in_handler(int number)
{
    lock_in_handler(number);
    is_mine_in_handler = otelctx_lock_is_mine(&lock);
}

/* As far away as a stack of malloc's is. */
Test(lock, refuses_it_once_nobody_has_unlocked_for_a_second, .timeout = 20)
{
    enum {
        STACK_SIZE = 64 << 10
    };
    const stack_t stack = {.ss_sp = malloc(STACK_SIZE),
                           .ss_size = STACK_SIZE,
                           .ss_flags = (int)SS_AUTODISARM};
    const struct sigaction action = {.sa_handler = lock_and_ask_in_handler,
                                     .sa_flags = SA_ONSTACK};
    double before;

    cr_assert_eq(sigaltstack(&stack, NULL), 0);
    sigaction(SIGUSR1, &action, NULL);
    cr_assert_eq(otelctx_lock(&lock), 0);
    raise(SIGUSR1);
    cr_expect_eq(result_in_handler, -EBUSY);
    cr_expect(is_mine_in_handler, "a fork in the handler must know");

    before = seconds();
    raise(SIGUSR1);
    cr_expect_lt(seconds() - before, 0.5, "no handler waits for it again");
    otelctx_unlock(&lock);
    cr_expect_eq(otelctx_lock(&lock), 0);
}

/* As a handler finds it that interrupts the owner before that has noted its
 * frame. The next handler interrupts it at the same instruction. */
Test(lock, handler_of_an_owner_without_a_frame_waits_once)
{
    long before;

    cr_assert_eq(otelctx_lock(&lock), 0);
    lock.frame = 0;
    cr_expect_eq(otelctx_lock(&lock), -EBUSY);
    before = sleeps_of_mine();
    cr_expect_eq(otelctx_lock(&lock), -EBUSY);
    cr_expect_lt(sleeps_of_mine() - before, 5, "it waited again");
}
