/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the benchmarks share. Each prints lines of
 *
 *     row TAB subject TAB nanoseconds
 *
 * A round is one short block of each subject, in random order, between two more
 * blocks of the first one. Those two are printed as the row `tell`: they tell
 * how quiet the machine was, and nothing else is computed from them. The row
 * `additions a cycle` tells who else used the core. figures.py does the sums.
 */

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Pin the process to its current processor, so that its caches stay warm. */
static inline void bench_pin(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

/* NULL if the shim is older than the function. */
static inline void *bench_symbol_if_any(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static inline void *bench_symbol(const char *name)
{
    void *const symbol = bench_symbol_if_any(name);

    if (!symbol) {
        fprintf(stderr, "no %s: is the shim preloaded?\n", name);
        exit(2);
    }
    return symbol;
}

/* Has a pointer to a function point to the symbol of this name. */
#define BENCH_SYMBOL(pointer, name)                                            \
    do {                                                                       \
        void *const at = bench_symbol(name);                                   \
        memcpy(&(pointer), &at, sizeof(at));                                   \
    } while (0)

/* Until the shim has made its look of shim/start/watch.h: calls are slower
 * before. */
static inline void bench_wait_for_look(void)
{
    const struct timespec second = {1, 100000000};
    int (*abi)(void);

    *(void **)&abi = bench_symbol("otelctx_abi");
    nanosleep(&second, NULL);
    for (int i = 0; i < 64; i++) /* one of these reads the clock */
        (void)abi();
}

/* Run what is measured `times` in a row; returns the nanoseconds that took. */
typedef double bench_run(unsigned times);

struct bench_subject {
    const char *row, *name;
    bench_run *run;
};

/* The time of a block, as often as is asked for. */
#define BENCH(name, ...)                                                       \
    static double name(unsigned times)                                         \
    {                                                                          \
        const double begin = bench_now_ns();                                   \
                                                                               \
        for (unsigned i = 0; i < times; i++)                                   \
            __VA_ARGS__;                                                       \
        return bench_now_ns() - begin;                                         \
    }

/*
 * Additions, one after another (each waits for the one before: one a cycle) or
 * four at a time. A core that has four adders or more makes four a cycle; a
 * busy hyperthread takes half of them, but does not slow what waits.
 */
#ifdef __x86_64__
#define BENCH_ADD(to) "add $1, %" #to "\n\t"
#else
#define BENCH_ADD(to) "add %" #to ", %" #to ", #1\n\t"
#endif
#define BENCH_8_TIMES(what) what what what what what what what what
#define BENCH_ADDITIONS(a, b, c, d)                                            \
    __asm__ volatile(                                                          \
        BENCH_8_TIMES(BENCH_ADD(a) BENCH_ADD(b) BENCH_ADD(c) BENCH_ADD(d))     \
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3]))

static inline double bench_additions_a_cycle(void)
{
    enum {
        TIMES = 100
    };
    uint64_t sums[4] = {0};
    double begin = bench_now_ns(), one_by_one, at_once;

    for (int i = 0; i < TIMES; i++)
        BENCH_ADDITIONS(0, 0, 0, 0);
    one_by_one = bench_now_ns() - begin;
    begin = bench_now_ns();
    for (int i = 0; i < TIMES; i++)
        BENCH_ADDITIONS(0, 1, 2, 3);
    at_once = bench_now_ns() - begin;
    return one_by_one / at_once;
}

/* So that the benchmarks of two builds take turns, round by round: each waits
 * for a byte of the other. Without such descriptors a benchmark runs alone. */
enum {
    BENCH_TURN_FROM = 3,
    BENCH_TURN_TO = 4
};

static inline void bench_wait_for_turn(void)
{
    char byte;

    if (read(BENCH_TURN_FROM, &byte, 1) == 0)
        exit(2); /* the other has ended */
}

static inline void bench_end_turn(void)
{
    if (write(BENCH_TURN_TO, "", 1) < 0)
        return; /* nobody waits */
}

static inline unsigned bench_next(unsigned *order, unsigned left)
{
    const unsigned at = (unsigned)rand() % left, next = order[at];

    order[at] = order[left - 1];
    return next;
}

/* Measure `rounds` of the subjects, in blocks of about block_ns. A subject that
 * has no function is left out. */
static inline void bench_measure(const struct bench_subject *subjects,
                                 unsigned count, unsigned rounds,
                                 double block_ns)
{
    enum {
        SUBJECTS_MAX = 16,
        TRIAL = 20
    };
    unsigned times[SUBJECTS_MAX], order[SUBJECTS_MAX];

    for (unsigned k = 0; k < count; k++) {
        if (!subjects[k].run)
            continue;
        (void)subjects[k].run(TRIAL); /* makes the caches warm */
        times[k] = 1 + (unsigned)(block_ns * TRIAL / subjects[k].run(TRIAL));
    }
    for (unsigned i = 0; i < rounds; i++) {
        unsigned left = 0;

        for (unsigned k = 0; k < count; k++)
            if (subjects[k].run)
                order[left++] = k;
        bench_wait_for_turn();
        printf("additions a cycle\tcore\t%.3f\n", bench_additions_a_cycle());
        (void)subjects[0].run(times[0]);
        printf("tell\tbefore\t%.3f\n", subjects[0].run(times[0]) / times[0]);
        for (; left > 0; left--) {
            const unsigned k = bench_next(order, left);

            (void)subjects[k].run(times[k] / 4); /* makes it fast */
            printf("%s\t%s\t%.3f\n", subjects[k].row, subjects[k].name,
                   subjects[k].run(times[k]) / times[k]);
        }
        printf("tell\tafter\t%.3f\n", subjects[0].run(times[0]) / times[0]);
        bench_end_turn();
    }
}

static inline unsigned bench_number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}
