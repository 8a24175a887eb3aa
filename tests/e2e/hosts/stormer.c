/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A thread attaches contexts, sets, replaces and removes attributes, in its own
 * record, in one of the program's and in its own when pinned. Timers interrupt
 * it all the time, and their handlers, one in the other, bring in records of
 * their own and go back. storm.h says what is written.
 *
 * Prints its tid and the address of its variable. After a byte on stdin the
 * storm is over, and a last context attached; it prints that one's number, how
 * many handlers ran, how deep, and what went wrong. Ends when stdin does.
 */

#include "storm.h"

#include "shim/otelctx.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    CREDIT = 8
};

static volatile bool over;
static const char *volatile fault = "-"; /* the first one */

static void expect(bool is_so, const char *what)
{
    if (!is_so && fault[0] == '-')
        fault = what;
}

/* ---- handlers ----------------------------------------------------------- */

static struct otelctx_record handler_records[STORM_SIGNALS];
static volatile unsigned long handled;
static volatile unsigned depth, deepest;
/* How many more handlers may run before the thread changes records: without a
 * limit a slow machine would run nothing but handlers. */
static volatile int credit;
static sigset_t storm_signals;

static void record_set(struct otelctx_record *record, uint32_t word,
                       unsigned key)
{
    char value[STORM_VALUE_MAX];
    const size_t size = storm_value(word, key, 0, value);

    expect(otelctx_record_attr(record, (uint8_t)key, value, size) == 0,
           "record_attr");
}

static void record_make(struct otelctx_record *record, uint32_t word)
{
    const struct storm_ids ids = storm_ids(word);

    expect(otelctx_record_init(record, (const uint8_t *)ids.trace_id,
                               (const uint8_t *)ids.span_id, ids.flags) == 0,
           "record_init");
    for (unsigned key = 0; key < STORM_KEYS; key++)
        record_set(record, word, key);
}

static bool is_attached(uint32_t word)
{
    const struct storm_ids ids = storm_ids(word);
    struct otelctx_ids got;

    return otelctx_get(&got) == 0 &&
           memcmp(got.trace_id, ids.trace_id, sizeof(got.trace_id)) == 0 &&
           memcmp(got.span_id, ids.span_id, sizeof(got.span_id)) == 0 &&
           got.trace_flags == ids.flags;
}

static int attach(uint32_t word)
{
    const struct storm_ids ids = storm_ids(word);

    return otelctx_attach((const uint8_t *)ids.trace_id,
                          (const uint8_t *)ids.span_id, ids.flags);
}

static int set(uint32_t word, uint8_t key, unsigned variant)
{
    char value[STORM_VALUE_MAX];

    return otelctx_attr(key, value, storm_value(word, key, variant, value));
}

static void swap_there_and_back(struct otelctx_record *record, uint32_t word)
{
    struct otelctx_record *found = NULL, *left = NULL;

    record_make(record, word);
    expect(otelctx_swap(record, &found) == 0, "a handler's swap");
    expect(attach(word) == -EBUSY, "a handler's attach");
    for (unsigned i = 0; i < 20; i++) { /* to be seen */
        const int result = set(word, 1, i % 2);

        expect(result == 0 || result == -EBUSY, "a handler's attr");
        expect(is_attached(word), "a handler's context");
    }
    expect(otelctx_swap(found, &left) == 0 && left == record,
           "a handler's swap back");
}

/* Signals do not interrupt their own handlers, only the others'. Once there is
 * no credit left, the thread goes on with the signals blocked. */
static void handle(int signal, siginfo_t *info, void *context)
{
    const int index = signal - SIGRTMIN;

    (void)info;
    if (credit <= 0) {
        ucontext_t *const interrupted = context;

        for (int i = 0; i < STORM_SIGNALS; i++)
            sigaddset(&interrupted->uc_sigmask, SIGRTMIN + i);
        return;
    }
    credit--;
    if (++depth > deepest)
        deepest = depth;
    swap_there_and_back(&handler_records[index],
                        storm_word((char)('A' + index), (uint32_t)++handled));
    depth--;
}

/* ---- the thread --------------------------------------------------------- */

/* Add an attribute to the attached context, replace one, and remove one. */
static void change(uint32_t word)
{
    expect(set(word, 2, 0) == 0, "attr: a new one");
    expect(is_attached(word), "get");
    expect(set(word, 1, 1) == 0, "attr: another value");
    expect(otelctx_attr_unset(0) == 0, "unset");
}

static void use_own(uint32_t word)
{
    expect(attach(word) == 0, "attach");
    expect(set(word, 0, 0) == 0, "attr: the first one");
    expect(set(word, 1, 0) == 0, "attr: the second one");
    change(word);
}

static void use_programs(uint32_t word)
{
    static struct otelctx_record record;
    struct otelctx_record *found = NULL, *left = NULL;

    record_make(&record, word);
    expect(otelctx_swap(&record, &found) == 0, "swap");
    change(word);
    expect(otelctx_swap(found, &left) == 0 && left == &record, "swap back");
}

static void give_credit(void)
{
    credit = CREDIT;
    pthread_sigmask(SIG_UNBLOCK, &storm_signals, NULL);
}

static void work(uint32_t number)
{
    if (number % 3 == 0)
        expect(otelctx_pin(), "pin");
    give_credit();
    use_own(storm_word('O', number));
    give_credit();
    use_programs(storm_word('P', number));
    if (number % 3 < 2)
        expect(otelctx_detach() == 0, "detach");
}

static void start_timers(timer_t timers[STORM_SIGNALS])
{
    static const long interval_ns[STORM_SIGNALS] = {61000, 73000, 89000};

    for (int i = 0; i < STORM_SIGNALS; i++) {
        const struct itimerspec when = {{0, interval_ns[i]},
                                        {0, interval_ns[i]}};
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                                 .sigev_signo = SIGRTMIN + i};

        event.sigev_notify_thread_id = gettid();
        if (timer_create(CLOCK_MONOTONIC, &event, &timers[i]) ||
            timer_settime(timers[i], 0, &when, NULL))
            abort();
    }
}

static void *storm(void *unused)
{
    uint32_t number = 0;
    timer_t timers[STORM_SIGNALS];

    printf("%d %p\n", gettid(), dlsym(NULL, "otel_thread_ctx_v1"));
    start_timers(timers);
    while (!over)
        work(++number);
    for (int i = 0; i < STORM_SIGNALS; i++)
        timer_delete(timers[i]);

    use_own(storm_word('O', ++number));
    printf("%u %lu %u %s\n", number, handled, deepest, fault);
    while (getchar() != EOF)
        ;
    return unused;
}

int main(void)
{
    const struct sigaction action = {.sa_sigaction = handle,
                                     .sa_flags = SA_RESTART | SA_SIGINFO};
    pthread_t thread;

    setlinebuf(stdout);
    sigemptyset(&storm_signals);
    for (int i = 0; i < STORM_SIGNALS; i++) {
        sigaddset(&storm_signals, SIGRTMIN + i);
        sigaction(SIGRTMIN + i, &action, NULL);
    }
    if (pthread_create(&thread, NULL, storm, NULL) != 0)
        return 1;
    getchar();
    over = true;
    return pthread_join(thread, NULL);
}
