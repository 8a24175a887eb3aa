/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
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
        while (!sleeps(&wanting[i]))
            sched_yield();
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
    pthread_t thread;

    cr_assert_eq(otelctx_lock(&word), 0);
    cr_assert_eq(pthread_create(&thread, NULL, want, &wanting[0]), 0);
    while (!sleeps(&wanting[0]))
        sched_yield();
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

Test(lock, is_free_in_a_page_of_zeros)
{
    uint64_t wiped = 0;

    cr_expect_eq(otelctx_lock(&wiped), 0);
}
