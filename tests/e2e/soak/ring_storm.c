/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Many forks and many threads, with the ring as the only storage. meson.build
 * runs this with a ring of 64 slots, fewer than there are threads.
 */

#include "tests/e2e/ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "shim/otelctx.h"

TestSuite(ring_storm, .timeout = 3600);

enum {
    FORKERS = 8,
    FORKS = 10000,
    CROWD = 100, /* threads at a time */
    ROUNDS = 700
};

static atomic_uint failures, collisions, shown;

/* Does the thread have the context in which each number is this one, or no
 * slot, because a thread of the same id modulo 64 has it? */
static bool has(pid_t pid, pid_t thread, uint8_t number)
{
    struct otelctx_ring_slot slot;
    struct ring ring;

    return ring_find(pid, &ring) == 1 &&
           ring_see(pid, &ring, thread, &slot) == RING_IDS &&
           ring_number(&slot) == number;
}

static int attach(uint8_t number)
{
    uint8_t id[16];

    memset(id, number, sizeof(id));
    return otelctx_attach(id, id, 1);
}

/* A forked child has one thread, so nobody else has its slot. */
static void *fork_on(void *unused)
{
    for (unsigned i = 0; i < FORKS / FORKERS; i++) {
        const uint8_t number = (uint8_t)(1 + i % 200);
        const bool is_attached = attach(number) == 0;
        const pid_t pid = fork();
        int status;

        if (pid == 0) {
            alarm(60);
            _exit(is_attached ? !has(getpid(), getpid(), number)
                              : attach(number) != 0);
        }
        shown += is_attached;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            failures++;
    }
    return unused;
}

Test(ring_storm, each_of_ten_thousand_children_has_its_own_ring)
{
    pthread_t threads[FORKERS];

    for (unsigned i = 0; i < FORKERS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, fork_on, NULL), 0);
    for (unsigned i = 0; i < FORKERS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(failures, 0, "%u children", failures);
    cr_expect_gt(shown, FORKS / FORKERS);
}

/* ---- More threads than slots -------------------------------------------- */

static pthread_barrier_t all_attached, all_looked;

/* Ids that no other thread has. */
static void *attach_own_id(void *unused)
{
    const pid_t tid = gettid();
    const int err = otelctx_attach64((uint64_t)tid, (uint64_t)tid);
    struct otelctx_ids ids;
    const int got = otelctx_get_by_tid(tid, &ids);

    if (err == -EBUSY)
        collisions++;
    else
        shown++;
    if (err != 0 && err != -EBUSY)
        failures++;
    if (err ? got != -ESRCH : got != 0 || ids.span_id[7] != (uint8_t)tid)
        failures++;
    pthread_barrier_wait(&all_attached);
    pthread_barrier_wait(&all_looked);
    return unused;
}

static atomic_bool is_over;

/* At any time the context in a slot is that of the slot's thread. */
static void look_at_all(const struct ring *ring)
{
    for (pid_t i = 0; i < (pid_t)ring->header.capacity; i++) {
        struct otelctx_ring_slot slot;
        const enum ring_seen seen = ring_see(getpid(), ring, i, &slot);
        const uint32_t owner = otelctx_ring_thread(slot.lock);

        if (seen == RING_BUSY || seen == RING_NO_SLOT)
            continue;
        if (slot.span_id != owner || slot.trace_id_low != owner ||
            slot.trace_id_high != 0)
            failures++;
    }
}

static void *look_on(void *ring)
{
    while (!is_over)
        look_at_all(ring);
    return NULL;
}

Test(ring_storm, seventy_thousand_threads_are_never_taken_for_each_other)
{
    pthread_t threads[CROWD], reader;
    struct ring ring;

    cr_assert_eq(ring_find(getpid(), &ring), 1);
    cr_assert_eq(ring.header.capacity, 64);
    pthread_barrier_init(&all_attached, NULL, CROWD + 1);
    pthread_barrier_init(&all_looked, NULL, CROWD + 1);
    cr_assert_eq(pthread_create(&reader, NULL, look_on, &ring), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < CROWD; i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, attach_own_id, NULL),
                         0);
        pthread_barrier_wait(&all_attached);
        look_at_all(&ring);
        pthread_barrier_wait(&all_looked);
        for (unsigned i = 0; i < CROWD; i++)
            pthread_join(threads[i], NULL);
    }
    is_over = true;
    pthread_join(reader, NULL);
    cr_expect_eq(failures, 0, "%u", failures);
    cr_expect_eq(shown + collisions, ROUNDS * CROWD);
    cr_expect_geq(collisions, ROUNDS * (CROWD - 64));
    cr_expect_geq(shown, ROUNDS * 32);
}
