/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_BENCH_H
#define OTELCTX_BENCH_H

/*
 * What the benchmarks share. Each prints lines of
 *
 *     row TAB subject TAB nanoseconds
 *
 * of one repetition each; the subjects, `floor` among them, take turns, so that
 * a noisy moment strikes all. `run` makes medians and ratios of that.
 */

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static inline void *bench_symbol(const char *name)
{
    void *const symbol = dlsym(RTLD_DEFAULT, name);

    if (!symbol) {
        fprintf(stderr, "no %s: is the shim preloaded?\n", name);
        exit(2);
    }
    return symbol;
}

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

/* `repetitions` times each subject, in turns. */
static inline void bench_measure(const struct bench_subject *subjects,
                                 size_t count, unsigned repetitions,
                                 unsigned times)
{
    for (unsigned i = 0; i < repetitions; i++)
        for (size_t k = 0; k < count; k++)
            printf("%s\t%s\t%.3f\n", subjects[k].row, subjects[k].name,
                   subjects[k].run(times) / times);
}

static inline unsigned bench_number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

#endif
