/* SPDX-License-Identifier: Apache-2.0 */

/* The child keeps the thread context of the thread that forked, and no other.
 */

#include "tests/e2e/fork/fork.h"

#include <pthread.h>

TestSuite(fork_threads, .timeout = 600);

enum {
    THREADS = 8
};
static const uint8_t trace_id[16] = {1}, span_id[8] = {2};

static pthread_t others[THREADS];
static pthread_barrier_t barrier;

static void *attach_and_stay(void *unused)
{
    cr_assert_eq(otelctx_attach(trace_id, span_id, 1), 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return unused;
}

/* Other threads, each with a context. */
static void start_others(void)
{
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&others[i], NULL, attach_and_stay, NULL),
                     0);
    pthread_barrier_wait(&barrier);
}

static void end_others(void)
{
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(others[i], NULL);
}

Test(fork_threads, the_thread_that_forks_keeps_its_thread_context)
{
    static const uint8_t forkers_span_id[8] = {3};
    struct otelctx_ids ids;
    pid_t child;
    int key;

    key = otelctx_key("http.route");
    cr_assert_geq(key, 0);
    start_others();
    cr_assert_eq(otelctx_attach(trace_id, forkers_span_id, 1), 0);

    child = fork();
    if (child == 0) {
        if (otelctx_get(&ids) || memcmp(ids.span_id, forkers_span_id, 8) != 0)
            _exit(ANOTHER_VALUE);
        if (otelctx_attr((uint8_t)key, "/cart", 5) || otelctx_detach() ||
            otelctx_get(&ids) != -ENOENT || otelctx_key("http.route") != key)
            _exit(CALL_FAILED);
        _exit(AS_IT_SHOULD_BE);
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(otelctx_get(&ids), 0);
    end_others();
}

/* A thread of the child; its stack's address shows which thread's memory it
 * reuses. */
static void *look(void *reused)
{
    struct otelctx_ids ids;

    for (unsigned i = 0; i < THREADS; i++)
        *(unsigned *)reused += pthread_equal(pthread_self(), others[i]) != 0;
    return (void *)(uintptr_t)(otelctx_get(&ids) == -ENOENT ? AS_IT_SHOULD_BE
                                                            : ANOTHER_VALUE);
}

/* glibc reuses the stacks of the parent's other threads, with the thread-local
 * variables in them. */
static int judge_new_threads(void)
{
    unsigned reused = 0;
    pthread_t thread;
    void *fault;

    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, look, &reused) ||
            pthread_join(thread, &fault))
            return CALL_FAILED;
        if (fault)
            return ANOTHER_VALUE;
    }
    return reused > 0 ? AS_IT_SHOULD_BE : NONE_REUSED;
}

Test(fork_threads, a_new_thread_of_the_child_starts_without_a_context)
{
    pid_t child;
    int status;

    start_others();
    child = fork();
    if (child == 0)
        _exit(judge_new_threads());
    status = status_of(child);
    end_others();
    if (status == NONE_REUSED)
        cr_skip_test("machine: its libc reuses no stacks in a child");
    cr_expect_eq(status, AS_IT_SHOULD_BE);
}
