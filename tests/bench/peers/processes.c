/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Process contexts of peers, beside ours. A process has one publisher only, so
 * each is measured in a process of its own: "processes PEER measure ROUNDS".
 */

#include "tests/bench/peers/pairs.h"
#include "tests/bench/process_floor.h"

#include "shim/otelctx.h"

static void *(*dd_new)(void);
static void (*dd_set_version)(void *, unsigned char);
static int (*dd_publish)(const void *), (*dd_drop)(void);
static void *dd_context;

/* What a call returned that should have returned 0. */
static int faults;

static void ours_publish(void)
{
    faults |= otelctx_process_publish();
}

static void ours_drop(void)
{
    faults |= otelctx_process_drop();
}

static void ours_update(void)
{
    static unsigned i;
    const char version[] = {(char)('a' + i++ % 26), '\0'};

    faults |= otelctx_process_set("service.version", version);
    ours_publish();
}

static void libdatadog_publish(void)
{
    faults |= dd_publish(dd_context);
}

static void libdatadog_drop(void)
{
    faults |= dd_drop();
}

static void libdatadog_update(void)
{
    static unsigned i;

    dd_set_version(dd_context, (unsigned char)('a' + i++ % 26));
    libdatadog_publish();
}

/* Only the publication is timed; what it leaves is not, and is not the same. */
static double first(void (*publish)(void), void (*drop)(void), unsigned times)
{
    double sum = 0;

    for (unsigned i = 0; i < times; i++) {
        double begin;

        drop();
        begin = bench_now_ns();
        publish();
        sum += bench_now_ns() - begin;
    }
    return sum;
}

static double ours_first(unsigned times)
{
    return first(ours_publish, ours_drop, times);
}

static double libdatadog_first(unsigned times)
{
    return first(libdatadog_publish, libdatadog_drop, times);
}

BENCH(ours_updates, ours_update())
BENCH(libdatadog_updates, libdatadog_update())

#define FIRST  "first publication"
#define UPDATE "update: one attribute"

static const struct {
    const char *peer;
    struct pairs_subject first, update;
} peers[] = {
    {"otelctx",
     {FIRST, "otelctx", .run = ours_first, .publish = ours_publish},
     {UPDATE, "otelctx", .run = ours_updates, .publish = ours_update}},
    {"libdatadog",
     {FIRST, "libdatadog", .run = libdatadog_first,
      .publish = libdatadog_publish},
     {UPDATE, "libdatadog", .run = libdatadog_updates,
      .publish = libdatadog_update, .begin = libdatadog_publish}},
};

static void find_symbols(void)
{
    BENCH_SYMBOL(dd_new, "libdatadog_process_new");
    BENCH_SYMBOL(dd_set_version, "libdatadog_process_set_version");
    BENCH_SYMBOL(dd_publish, "libdatadog_process_publish");
    BENCH_SYMBOL(dd_drop, "libdatadog_process_drop");
    dd_context = dd_new();
}

int main(int count, char **words)
{
    const int ours = count > 2 && !strcmp(words[1], peers[0].peer);
    const struct pairs_subject *const subject_first = &peers[!ours].first;
    const struct pairs_subject *const subject_update = &peers[!ours].update;
    unsigned rounds;

    if (count < 3)
        return 2;
    if (ours)
        bench_wait_for_look();
    else
        find_symbols();

    if (!strcmp(words[2], "show")) {
        pairs_show(subject_first, NULL);
        pairs_show(subject_update, NULL);
        return faults != 0;
    }
    rounds = bench_number(words[count - 1]);
    bench_pin();
    pairs_measure(floor_first, subject_first, 1, rounds, 100000);
    header = publish_bare();
    pairs_measure(floor_update, subject_update, 1, rounds, 60000);
    if (faults)
        fprintf(stderr, "a call of %s failed\n", words[1]);
    return faults != 0;
}
