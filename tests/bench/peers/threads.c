/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Thread contexts of peers, beside ours. Each is a library that is preloaded,
 * and called through pointers from dlsym(3). What a subject publishes can be
 * looked at: "threads show NUMBER" publishes it and waits for a line.
 */

#include "tests/bench/peers/pairs.h"

#include <stdbool.h>

#include "shim/otelctx.h"

void floor_set(void *record);
void floor_clear(void);

/* Also in libdatadog/src/lib.rs and custom_labels/src/lib.rs. */
struct peer_attr {
    uint8_t key; /* 0 is datadog.local_root_span_id */
    const char *value;
    size_t size;
};
struct peer_context {
    uint8_t trace_id[16], span_id[8], flags, count;
    struct peer_attr attrs[4];
};

static const struct peer_context plain = {
    .trace_id = {1, 2, 3}, .span_id = {4, 5, 6}, .flags = 1};
static const struct peer_context full = {
    .trace_id = {1, 2, 3},
    .span_id = {4, 5, 6},
    .flags = 1,
    .count = 4,
    .attrs = {{1, "/api/cart", 9},
              {2, "GET", 3},
              {3, "user-4711", 9},
              {4, "eu-west-1a", 10}},
};

static int (*attach)(const uint8_t *, const uint8_t *, uint8_t);
static int (*attr)(uint8_t, const char *, size_t);
static int (*detach)(void);
static int (*swap)(struct otelctx_record *, struct otelctx_record **);
static struct otelctx_record record __attribute__((aligned(64)));

static void (*dd_attach_new)(const struct peer_context *);
static void (*dd_detach_and_free)(void), (*dd_detach_and_keep)(void);
static void *(*dd_record)(const struct peer_context *);
static void (*dd_attach)(void *);
static void (*dd_write_and_attach)(void *, const struct peer_context *);
static void (*dd_update)(const struct peer_context *);
static void *dd_kept;

static int (*labels_attach_new)(const struct peer_context *);
static void (*labels_detach_and_free)(void);
static void (*labels_attach_empty)(void);
static int (*labels_add)(const struct peer_context *);
static void (*labels_remove)(const struct peer_context *);
static void *(*labels_set_of)(const struct peer_context *);
static void *(*labels_attach)(void *);
static void *labels_kept;

BENCH(floor_a, {
    floor_set(&record);
    floor_clear();
})

/* What publishes a context and what ends it, once and in the loop. */
#define SUBJECT(name, publish, end)                                            \
    static void name##_publish(void)                                           \
    {                                                                          \
        publish;                                                               \
    }                                                                          \
    static double name(unsigned times)                                         \
    {                                                                          \
        const double begin = bench_now_ns();                                   \
                                                                               \
        for (unsigned i = 0; i < times; i++) {                                 \
            publish;                                                           \
            end;                                                               \
        }                                                                      \
        return bench_now_ns() - begin;                                         \
    }

static void set_four(void)
{
    (void)attr(1, "/api/cart", 9);
    (void)attr(2, "GET", 3);
    (void)attr(3, "user-4711", 9);
    (void)attr(4, "eu-west-1a", 10);
}

SUBJECT(ours, (void)attach(plain.trace_id, plain.span_id, 1), (void)detach())
SUBJECT(ours_four, (void)attach(full.trace_id, full.span_id, 1);
        set_four(), (void)detach())
SUBJECT(ours_swap, (void)swap(&record, NULL), (void)swap(NULL, NULL))

SUBJECT(dd_new, dd_attach_new(&plain), dd_detach_and_free())
SUBJECT(dd_new_four, dd_attach_new(&full), dd_detach_and_free())
SUBJECT(dd_written, dd_write_and_attach(dd_kept, &plain), dd_detach_and_keep())
SUBJECT(dd_written_four, dd_write_and_attach(dd_kept, &full),
        dd_detach_and_keep())
SUBJECT(dd_swap, dd_attach(dd_kept), dd_detach_and_keep())

SUBJECT(labels_new, (void)labels_attach_new(&plain), labels_detach_and_free())
SUBJECT(labels_new_four, (void)labels_attach_new(&full),
        labels_detach_and_free())
SUBJECT(labels_swap, (void)labels_attach(labels_kept),
        (void)labels_attach(NULL))

/* These want something attached before, or an empty set. */
SUBJECT(ours_over, (void)attach(plain.trace_id, plain.span_id, 1), (void)0)
SUBJECT(ours_over_four, (void)attach(full.trace_id, full.span_id, 1);
        set_four(), (void)0)
SUBJECT(dd_over, dd_update(&plain), (void)0)
SUBJECT(dd_over_four, dd_update(&full), (void)0)
SUBJECT(labels_added, (void)labels_add(&plain), labels_remove(&plain))
SUBJECT(labels_added_four, (void)labels_add(&full), labels_remove(&full))

static void ours_end(void)
{
    (void)detach();
}

static void dd_end(void)
{
    dd_detach_and_free();
}

static void labels_begin(void)
{
    labels_attach_empty();
}

static void labels_end(void)
{
    labels_detach_and_free();
}

#define PLAIN "attach + detach"
#define FOUR  "the same, 4 attributes"
#define OVER  "attach, in place of another"
#define OVER4 "the same, 4 attributes, in place"
#define SWAP  "a context made before, there and back"

/* The functions of SUBJECT(subject, ...). */
#define BOTH(subject) .run = (subject), .publish = subject##_publish

static const struct pairs_subject subjects[] = {
    {PLAIN, "otelctx", BOTH(ours)},
    {PLAIN, "libdatadog, a kept record", BOTH(dd_written)},
    {PLAIN, "libdatadog, a new record", BOTH(dd_new)},
    {PLAIN, "custom-labels, a kept set", BOTH(labels_added),
     .begin = labels_begin, .end = labels_end},
    {PLAIN, "custom-labels, a new set", BOTH(labels_new)},

    {FOUR, "otelctx", BOTH(ours_four)},
    {FOUR, "libdatadog, a kept record", BOTH(dd_written_four)},
    {FOUR, "libdatadog, a new record", BOTH(dd_new_four)},
    {FOUR, "custom-labels, a kept set", BOTH(labels_added_four),
     .begin = labels_begin, .end = labels_end},
    {FOUR, "custom-labels, a new set", BOTH(labels_new_four)},

    {OVER, "otelctx", BOTH(ours_over), .begin = ours_publish, .end = ours_end},
    {OVER, "libdatadog", BOTH(dd_over), .begin = dd_over_publish,
     .end = dd_end},
    {OVER4, "otelctx", BOTH(ours_over_four), .begin = ours_publish,
     .end = ours_end},
    {OVER4, "libdatadog", BOTH(dd_over_four), .begin = dd_over_publish,
     .end = dd_end},

    {SWAP, "otelctx", BOTH(ours_swap)},
    {SWAP, "libdatadog", BOTH(dd_swap)},
    {SWAP, "custom-labels", BOTH(labels_swap)},
};
enum {
    SUBJECTS = sizeof(subjects) / sizeof(subjects[0])
};

/* "Custom Labels ABI, v1": what its readers find. */
struct label_text {
    size_t size;
    const char *bytes;
};
struct label_set {
    struct {
        struct label_text key, value;
    } * labels;
    size_t count;
};

static void print_labels(void)
{
    const struct label_set *const *const current =
        bench_symbol("custom_labels_current_set");

    if (!*current)
        return;
    for (size_t i = 0; i < (*current)->count; i++) {
        const struct label_text *const key = &(*current)->labels[i].key;
        const struct label_text *const value = &(*current)->labels[i].value;

        printf("label %.*s=", (int)key->size, key->bytes);
        for (size_t k = 0; k < value->size; k++)
            printf("%02x", (unsigned char)value->bytes[k]);
        printf("\n");
    }
}

static void find_symbols(void)
{
    BENCH_SYMBOL(attach, "otelctx_attach");
    BENCH_SYMBOL(attr, "otelctx_attr");
    BENCH_SYMBOL(detach, "otelctx_detach");
    BENCH_SYMBOL(swap, "otelctx_swap");
    BENCH_SYMBOL(dd_attach_new, "libdatadog_attach_new");
    BENCH_SYMBOL(dd_detach_and_free, "libdatadog_detach_and_free");
    BENCH_SYMBOL(dd_detach_and_keep, "libdatadog_detach_and_keep");
    BENCH_SYMBOL(dd_record, "libdatadog_record");
    BENCH_SYMBOL(dd_attach, "libdatadog_attach");
    BENCH_SYMBOL(dd_write_and_attach, "libdatadog_write_and_attach");
    BENCH_SYMBOL(dd_update, "libdatadog_update");
    BENCH_SYMBOL(labels_attach_new, "custom_labels_attach_new");
    BENCH_SYMBOL(labels_detach_and_free, "custom_labels_detach_and_free");
    BENCH_SYMBOL(labels_attach_empty, "custom_labels_attach_empty");
    BENCH_SYMBOL(labels_add, "custom_labels_add");
    BENCH_SYMBOL(labels_remove, "custom_labels_remove");
    BENCH_SYMBOL(labels_set_of, "custom_labels_set_of");
    BENCH_SYMBOL(labels_attach, "custom_labels_attach");
}

/* The indexes that libdatadog uses, so that readers know the names of both. */
static bool make_keys(void)
{
    const char *const keys[] = {"datadog.local_root_span_id", "http.route",
                                "http.request.method", "user.id",
                                "cloud.availability_zone"};

    for (int i = 0; i < 5; i++)
        if (otelctx_key(keys[i]) != i)
            return false;
    return true;
}

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    find_symbols();
    if (!make_keys() ||
        otelctx_record_init(&record, plain.trace_id, plain.span_id, 1))
        return 2;
    dd_kept = dd_record(&plain);
    labels_kept = labels_set_of(&plain);

    if (!strcmp(words[1], "count")) {
        printf("%d\n", SUBJECTS);
        return 0;
    }
    if (!strcmp(words[1], "show")) {
        const struct pairs_subject *const subject =
            &subjects[bench_number(words[2]) % SUBJECTS];

        pairs_show(subject, print_labels);
        return 0;
    }
    bench_wait_for_look();
    bench_pin();
    pairs_measure(floor_a, subjects, SUBJECTS, bench_number(words[2]), 60000);
    return 0;
}
