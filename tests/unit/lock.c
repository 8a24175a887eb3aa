/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

enum {
    THREADS = 8,
    ROUNDS = 100000
};

static uint64_t word;
static unsigned long counter;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (otelctx_lock(&word))
            return &word;
        counter++;
        otelctx_unlock(&word);
    }
    return unused;
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
