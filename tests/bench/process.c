/* SPDX-License-Identifier: Apache-2.0 */

/* The process context: its first publication and its updates. */

#include "tests/bench/process_floor.h"

#include "shim/otelctx.h"

static double first(unsigned times)
{
    double sum = 0;

    for (unsigned i = 0; i < times; i++) {
        double begin;

        (void)otelctx_process_drop();
        begin = bench_now_ns();
        (void)otelctx_process_publish();
        sum += bench_now_ns() - begin;
    }
    return sum;
}

BENCH(update, {
    const char value[] = {(char)('a' + i % 26), '\0'};

    (void)otelctx_process_set("service.version", value);
    (void)otelctx_process_publish();
})

BENCH(publish_again, (void)otelctx_process_publish())

int main(int count, char **words)
{
    static const struct bench_subject subjects[] = {
        {"update", "floor", floor_update},
        {"update", "ours", update},
        {"update without a change", "ours", publish_again},
        {"first publication", "floor", floor_first},
        {"first publication", "ours", first},
    };
    const unsigned number = bench_number(words[count - 1]);

    bench_wait_for_look();
    if (count == 3) /* for callgrind: one subject, so many times */
        return subjects[bench_number(words[1])].run(number) < 0;
    bench_pin();
    header = publish_bare();
    bench_measure(subjects, sizeof(subjects) / sizeof(subjects[0]), number,
                  40000);
    return 0;
}
