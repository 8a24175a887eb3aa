/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 8,
    ROUNDS = 100000
};

static uint64_t word;
static unsigned long counter;

/* Increment it, often with another thread running in the middle. */
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
        if (otelctx_lock(&word))
            return &word;
        count_one(i);
        otelctx_unlock(&word);
    }
    return unused;
}

/* Threads that want the lock once, and where each tells its id. */
static pid_t wanting[THREADS];

static void *want(void *id)
{
    __atomic_store_n((pid_t *)id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    if (otelctx_lock(&word))
        return &word;
    counter++;
    otelctx_unlock(&word);
    return NULL;
}

/* The same, keeping it for many times as long as a sleep lasts. */
static void *keep(void *unused)
{
    if (otelctx_lock(&word))
        return &word;
    usleep(300000);
    otelctx_unlock(&word);
    return unused;
}

/* The same, where a filter refuses to wait: this thread only. */
static void *want_without_futex(void *unused)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int result;

    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SYS_futex, 0) ||
        seccomp_load(filter))
        return unused;
    result = otelctx_lock(&word);
    seccomp_release(filter);
    return result == -EBUSY ? &word : unused;
}

/* Is it asleep in the kernel, waiting for a futex? */
static bool sleeps(const pid_t *id)
{
    char path[64], call[16] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall",
             __atomic_load_n(id, __ATOMIC_ACQUIRE));
    file = fopen(path, "r");
    if (!file)
        return false;
    (void)fscanf(file, "%15s", call);
    fclose(file);
    return atoi(call) == SYS_futex;
}

static void wait_until_it_sleeps(const pid_t *id)
{
    while (!sleeps(id))
        sched_yield();
}

/* Holds the lock itself, and returns when the thread sleeps on it. */
static pthread_t start_one_who_waits(void)
{
    pthread_t thread;

    cr_assert_eq(otelctx_lock(&word), 0);
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

Test(lock, lets_one_thread_in_at_a_time, .timeout = 60)
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
    cr_expect_eq(word, 0);
}

Test(lock, wakes_all_who_sleep_one_after_the_other, .timeout = 20)
{
    pthread_t threads[THREADS];
    void *failed;

    cr_assert_eq(otelctx_lock(&word), 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, want, &wanting[i]), 0);
    for (int i = 0; i < THREADS; i++)
        wait_until_it_sleeps(&wanting[i]);
    cr_expect_eq(counter, 0);

    otelctx_unlock(&word);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
    cr_expect_eq(counter, THREADS);
    cr_expect_eq(word, 0);
}

Test(lock, tells_its_owner_although_others_wait, .timeout = 20)
{
    const pthread_t thread = start_one_who_waits();

    cr_expect_eq(otelctx_lock(&word), -EBUSY);

    otelctx_unlock(&word);
    pthread_join(thread, NULL);
}

Test(lock, tells_its_owner_instead_of_waiting_for_ever)
{
    cr_assert_eq(otelctx_lock(&word), 0);
    cr_expect_eq(otelctx_lock(&word), -EBUSY);

    otelctx_unlock(&word);
    cr_expect_eq(otelctx_lock(&word), 0);
}

Test(lock, lets_all_in_however_long_they_queue, .timeout = 20)
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

/* The clock goes on, and nobody has time to unlock. */
Test(lock, does_not_count_the_time_that_the_process_is_stopped, .timeout = 20)
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

    otelctx_unlock(&word);
    pthread_join(thread, &failed);
    cr_expect_null(failed);
}

/* Not before its time, either. */
Test(lock, gives_up_whatever_signals_come, .timeout = 20)
{
    const double before = seconds();
    const pthread_t thread = start_one_who_waits();
    void *failed = NULL;

    signal(SIGUSR1, nothing);
    while (pthread_tryjoin_np(thread, &failed) != 0) {
        pthread_kill(thread, SIGUSR1);
        usleep(1500);
    }
    cr_expect_eq(failed, &word);
    cr_expect_geq(seconds() - before, 1.0);
}

Test(lock, gives_up_where_one_may_not_wait, .timeout = 20)
{
    pthread_t thread;
    void *failed;

    cr_assert_eq(otelctx_lock(&word), 0);
    cr_assert_eq(pthread_create(&thread, NULL, want_without_futex, NULL), 0);
    pthread_join(thread, &failed);
    cr_expect_eq(failed, &word);
}

Test(lock, is_free_in_a_page_of_zeros)
{
    uint64_t wiped = 0;

    cr_expect_eq(otelctx_lock(&wiped), 0);
}
