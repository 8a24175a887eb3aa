/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The thread calls, by pointers from dlsym(3), as any language makes them.
 *
 * Compiled twice: with FLOOR it is the library of what they are compared with,
 * which does as little as a library that sets a variable of each thread can do.
 */

#include <stdint.h>
#include <string.h>

void floor_set(void *record);
void floor_clear(void);
void floor_write(const uint8_t *trace_id, const uint8_t *span_id,
                 uint8_t flags);
void floor_erase(void);

#ifdef FLOOR

extern __thread void *floor_slot;
__thread void *floor_slot;

/* Floor A: nothing but the store, twice. */
void floor_set(void *record)
{
    floor_slot = record;
}

void floor_clear(void)
{
    floor_slot = NULL;
}

/* Floor B: a record of 28 bytes, and its `valid`. */
struct floor_record {
    uint8_t trace_id[16], span_id[8], valid, flags;
    uint16_t size;
};
extern __thread struct floor_record floor_record; /* somebody may look */
__thread struct floor_record floor_record;

void floor_write(const uint8_t *trace_id, const uint8_t *span_id, uint8_t flags)
{
    memcpy(floor_record.trace_id, trace_id, sizeof(floor_record.trace_id));
    memcpy(floor_record.span_id, span_id, sizeof(floor_record.span_id));
    floor_record.flags = flags;
    floor_record.size = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    floor_record.valid = 1;
}

void floor_erase(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    floor_record.valid = 0;
}

#else

#include "tests/bench/bench.h"

#include "shim/otelctx.h"

static const uint8_t trace_id[16] = {1, 2, 3}, span_id[8] = {4, 5, 6};
static struct otelctx_record record __attribute__((aligned(64)));

static void (*set)(void *), (*clear)(void);
static void (*write_record)(const uint8_t *, const uint8_t *, uint8_t);
static void (*erase)(void);
static int (*attach)(const uint8_t *, const uint8_t *, uint8_t);
static int (*attr)(uint8_t, const char *, size_t);
static int (*detach)(void);
static int (*swap)(struct otelctx_record *, struct otelctx_record **);

BENCH(floor_a, {
    set(&record);
    clear();
})
BENCH(floor_b, {
    write_record(trace_id, span_id, 1);
    erase();
})
BENCH(attach_and_detach, {
    (void)attach(trace_id, span_id, 1);
    (void)detach();
})
BENCH(attach_one, {
    (void)attach(trace_id, span_id, 1);
    (void)attr(0, "/api/cart", 9);
    (void)detach();
})
BENCH(attach_four, {
    (void)attach(trace_id, span_id, 1);
    (void)attr(0, "/api/cart", 9);
    (void)attr(1, "GET", 3);
    (void)attr(2, "user-4711", 9);
    (void)attr(3, "eu-west-1a", 10);
    (void)detach();
})
BENCH(swap_both_ways, {
    struct otelctx_record *before;

    (void)swap(&record, &before);
    (void)swap(before, NULL);
})

#define SYMBOL(pointer, name)                                                  \
    do {                                                                       \
        void *const at = bench_symbol(name);                                   \
        memcpy(&(pointer), &at, sizeof(at));                                   \
    } while (0)

int main(int count, char **words)
{
    static const struct bench_subject subjects[] = {
        {"attach + detach", "floor A", floor_a},
        {"attach + detach", "floor B", floor_b},
        {"attach + detach", "ours", attach_and_detach},
        {"the same, 1 attribute", "ours", attach_one},
        {"the same, 4 attributes", "ours", attach_four},
        {"swap there and back", "ours", swap_both_ways},
    };
    const char *const keys[] = {"http.route", "http.request.method", "user.id",
                                "cloud.availability_zone"};
    set = floor_set;
    clear = floor_clear;
    write_record = floor_write;
    erase = floor_erase;
    SYMBOL(attach, "otelctx_attach");
    SYMBOL(attr, "otelctx_attr");
    SYMBOL(detach, "otelctx_detach");
    SYMBOL(swap, "otelctx_swap");
    for (int i = 0; i < 4; i++)
        if (otelctx_key(keys[i]) != i)
            return 2;
    if (otelctx_record_init(&record, trace_id, span_id, 1))
        return 2;

    if (count == 3) /* for callgrind: one subject, so many times */
        return subjects[bench_number(words[1])].run(bench_number(words[2])) < 0;
    bench_pin();
    bench_measure(subjects, sizeof(subjects) / sizeof(subjects[0]),
                  bench_number(words[1]), 20000);
    return 0;
}

#endif
