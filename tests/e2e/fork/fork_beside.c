/* SPDX-License-Identifier: Apache-2.0 */

/* Forks of a process in which other libraries have atfork handlers, too.
 * Nothing is configured, so nothing is published at start. */

#include "tests/e2e/fork/fork.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

TestSuite(fork_beside, .timeout = 600);

/* Atfork handlers that were registered before the shim's. So fork(3) runs their
 * prepare handler after the shim's, and their child handler before it. */
static void (*in_prepare)(void), (*in_child)(void);

static void prepare(void)
{
    if (in_prepare)
        in_prepare();
}

static void child(void)
{
    if (in_child)
        in_child();
}

static void register_first(void)
{
    pthread_atfork(prepare, NULL, child);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = register_first;

static void publish_2(void)
{
    publish("2");
}

/* judge_self() in a child. */
static int judge_child(const char *value)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(judge_self(value));
    return status_of(pid);
}

Test(fork_beside, a_handler_may_publish_before_the_shims_has_run)
{
    publish("1");
    in_child = publish_2;
    cr_expect_eq(judge_child("2"), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

Test(fork_beside, a_handler_may_publish_after_the_shims_has_run)
{
    publish("1");
    cr_assert_eq(pthread_atfork(NULL, NULL, publish_2), 0);
    cr_expect_eq(judge_child("2"), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

Test(fork_beside, a_handler_may_publish_the_first_context)
{
    in_child = publish_2;
    cr_expect_eq(judge_child("2"), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("2"), NO_CONTEXT);
}

/* ---- Between the handlers ----------------------------------------------- */

static pthread_barrier_t ready;

static void let_go_and_wait(void)
{
    const struct timespec while_it_runs = {.tv_nsec = 100000000};

    pthread_barrier_wait(&ready);
    nanosleep(&while_it_runs, NULL);
}

static void *publish_when_ready(void *unused)
{
    pthread_barrier_wait(&ready);
    publish("1");
    return unused;
}

Test(fork_beside, a_child_has_the_first_context_whole_or_not_at_all)
{
    pthread_t other;
    int found;
    pid_t pid;

    pthread_barrier_init(&ready, NULL, 2);
    in_prepare = let_go_and_wait;
    cr_assert_eq(pthread_create(&other, NULL, publish_when_ready, NULL), 0);
    pid = fork();
    if (pid == 0) {
        found = judge_self("1");
        if (found != AS_IT_SHOULD_BE && found != NO_CONTEXT)
            _exit(found);
        publish("2");
        _exit(judge_self("2"));
    }
    cr_expect_eq(status_of(pid), AS_IT_SHOULD_BE);
    pthread_join(other, NULL);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

/* As an SDK has one: it holds this mutex during fork and during its calls. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_mutex(void)
{
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&mutex);
}

static void *call_with_mutex(void *result)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&ready);
    *(int *)result = otelctx_process_publish();
    pthread_mutex_unlock(&mutex);
    return NULL;
}

Test(fork_beside, a_call_under_a_mutex_that_a_handler_waits_for_is_no_deadlock)
{
    int result = 0;
    pthread_t other;

    publish("1");
    pthread_barrier_init(&ready, NULL, 2);
    cr_assert_eq(pthread_create(&other, NULL, call_with_mutex, &result), 0);
    in_prepare = lock_mutex;
    cr_expect_eq(judge_child("1"), AS_IT_SHOULD_BE);
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
    cr_expect_eq(result, -EBUSY);
    cr_expect_eq(otelctx_process_publish(), 0);
}
