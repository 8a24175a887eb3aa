/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The thread calls, through pointers from dlsym(3), as other languages make
 * them. Compiled twice: with FLOOR it is the library that they are compared
 * with, which does no more than set a thread-local variable.
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

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/otelctx.h"

static const uint8_t trace_id[16] = {1, 2, 3}, span_id[8] = {4, 5, 6};
static struct otelctx_record record __attribute__((aligned(64)));

static void (*set)(void *), (*clear)(void);
static void (*write_record)(const uint8_t *, const uint8_t *, uint8_t);
static void (*erase)(void);
static int (*attach)(const uint8_t *, const uint8_t *, uint8_t);
static int (*attr)(uint8_t, const char *, size_t);
static int (*attach_with)(const uint8_t *, const uint8_t *, uint8_t,
                          const struct otelctx_attribute *, size_t);
static int (*detach)(void);
static int (*swap)(struct otelctx_record *, struct otelctx_record **);
static int (*get)(struct otelctx_ids *);
static int (*get_by_tid)(pid_t, struct otelctx_ids *);

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
static const struct otelctx_attribute four[] = {{0, 9, "/api/cart"},
                                                {1, 3, "GET"},
                                                {2, 9, "user-4711"},
                                                {3, 10, "eu-west-1a"}};
BENCH(attach_with_one, {
    (void)attach_with(trace_id, span_id, 1, four, 1);
    (void)detach();
})
BENCH(attach_with_four, {
    (void)attach_with(trace_id, span_id, 1, four, 4);
    (void)detach();
})
BENCH(swap_both_ways, {
    struct otelctx_record *before;

    (void)swap(&record, &before);
    (void)swap(before, NULL);
})

static struct otelctx_ids ids;
static pid_t tid;
BENCH(get_again, { (void)get(&ids); })
BENCH(get_by_tid_again, { (void)get_by_tid(tid, &ids); })

static double while_attached(bench_run *run, unsigned times)
{
    double ns;

    (void)attach(trace_id, span_id, 1);
    ns = run(times);
    (void)detach();
    return ns;
}

static double get_own(unsigned times)
{
    return while_attached(get_again, times);
}

static double get_own_by_tid(unsigned times)
{
    return while_attached(get_by_tid_again, times);
}

/* Attributes are in TLS only. */
static bool make_keys(void)
{
    const char *const keys[] = {"http.route", "http.request.method", "user.id",
                                "cloud.availability_zone"};

    int (*storage)(void);

    *(void **)&storage = bench_symbol_if_any("otelctx_storage");
    if (storage && !(storage() & OTELCTX_TLS))
        return true;
    for (int i = 0; i < 4; i++)
        if (otelctx_key(keys[i]) != i)
            return false;
    return true;
}

/* Measures every subject with every storage; `run` knows which ones say
 * something. */
int main(int count, char **words)
{
    struct bench_subject subjects[] = {
        {"attach + detach", "floor A", floor_a},
        {"attach + detach", "floor B", floor_b},
        {"attach + detach", "ours", attach_and_detach},
        {"the same, 1 attribute", "ours", attach_one},
        {"the same, 4 attributes", "ours", attach_four},
        {"swap there and back", "ours", swap_both_ways},
        {"get", "ours", get_own},
        {"get by thread id", "ours", NULL},
        {"attach with 1 attribute + detach", "ours", attach_with_one},
        {"attach with 4 attributes + detach", "ours", attach_with_four},
    };
    enum {
        GET_BY_TID = 7, /* in subjects */
        WITH_ONE,
        WITH_FOUR
    };
    const unsigned subject_count = sizeof(subjects) / sizeof(subjects[0]);

    set = floor_set;
    clear = floor_clear;
    write_record = floor_write;
    erase = floor_erase;
    BENCH_SYMBOL(attach, "otelctx_attach");
    BENCH_SYMBOL(attr, "otelctx_attr");
    BENCH_SYMBOL(detach, "otelctx_detach");
    BENCH_SYMBOL(swap, "otelctx_swap");
    BENCH_SYMBOL(get, "otelctx_get");
    *(void **)&attach_with = bench_symbol_if_any("otelctx_attach_with");
    if (!attach_with) /* an earlier release */
        subjects[WITH_ONE].run = subjects[WITH_FOUR].run = NULL;
    *(void **)&get_by_tid = bench_symbol_if_any("otelctx_get_by_tid");
    if (get_by_tid)
        subjects[GET_BY_TID].run = get_own_by_tid;
    tid = (pid_t)syscall(SYS_gettid);
    if (!make_keys() || otelctx_record_init(&record, trace_id, span_id, 1))
        return 2;

    bench_wait_for_look();
    if (count == 3) /* for callgrind: one subject, so many times */
        return subjects[bench_number(words[1])].run(bench_number(words[2])) < 0;
    bench_pin();
    bench_measure(subjects, subject_count, bench_number(words[1]), 40000);
    return 0;
}

#endif
