/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the benchmarks of peers share. They print lines of
 *
 *     row TAB subject TAB floor before TAB nanoseconds TAB floor after
 *
 * of one short block each: the floor's own blocks tell how quiet the machine
 * was meanwhile. The subjects take turns.
 */

#include "tests/bench/bench.h"

struct pairs_subject {
    const char *row, *name;
    bench_run *run;
    void (*publish)(void);             /* what `run` repeats, without its end */
    void (*begin)(void), (*end)(void); /* around a block, or NULL */
};

static inline double pairs_block(const struct pairs_subject *subject,
                                 unsigned times)
{
    double ns;

    if (subject->begin)
        subject->begin();
    ns = subject->run(times);
    if (subject->end)
        subject->end();
    return ns / times;
}

static inline unsigned pairs_times(double ns, double block_ns)
{
    return 1 + (unsigned)(block_ns / ns);
}

/* Each block takes about block_ns. */
static inline void pairs_measure(bench_run *floor,
                                 const struct pairs_subject *subjects,
                                 unsigned count, unsigned rounds,
                                 double block_ns)
{
    enum {
        SUBJECTS_MAX = 32,
        TRIAL = 32
    };
    unsigned times[SUBJECTS_MAX], floor_times;
    double before;

    (void)floor(TRIAL); /* makes the caches warm */
    floor_times = pairs_times(floor(TRIAL) / TRIAL, block_ns);
    for (unsigned k = 0; k < count; k++) {
        (void)pairs_block(&subjects[k], TRIAL);
        times[k] = pairs_times(pairs_block(&subjects[k], TRIAL), block_ns);
    }
    before = floor(floor_times) / floor_times;
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned k = 0; k < count; k++) {
            const double ns = pairs_block(&subjects[k], times[k]);
            const double after = floor(floor_times) / floor_times;

            printf("%s\t%s\t%.3f\t%.3f\t%.3f\n", subjects[k].row,
                   subjects[k].name, before, ns, after);
            before = after;
        }
}

/* Publish what the subject publishes, and wait until somebody has looked. */
static inline void pairs_show(const struct pairs_subject *subject,
                              void (*print)(void))
{
    if (subject->begin)
        subject->begin();
    subject->publish();
    printf("%s\t%s\n", subject->row, subject->name);
    if (print)
        print();
    (void)puts("published");
    (void)fflush(stdout);
    (void)getchar();
}
