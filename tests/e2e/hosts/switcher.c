/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host whose threads change contexts as fast as they can: switcher [torn]
 *
 * One thread attaches and detaches its own record, one swaps records of the
 * program, one has its own pinned and writes that itself. With "torn" only the
 * last one runs, and leaves `valid` set while it writes, which is wrong.
 *
 * All of a context is derived from one word, never 0: the ids repeat the word,
 * the flags are its lowest two bits, and the only attribute, if there is one
 * yet, is key 0 with the word's eight digits of base 16, as letters from 'a'.
 *
 * Prints a line when all threads are about to begin; never ends.
 */

#include "shim/otelctx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 8,
    KEY = 0
};

struct context {
    uint32_t trace_id[4], span_id[2];
    uint8_t flags;
    char digits[DIGITS];
};

static bool is_torn;
static pthread_barrier_t begin;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct context context_of(uint32_t word)
{
    struct context c = {{word, word, word, word}, {word, word}, word & 3, {0}};

    for (unsigned i = 0; i < DIGITS; i++)
        c.digits[i] = (char)('a' + (word >> (28 - 4 * i) & 0xf));
    return c;
}

static void attach(const struct context *c)
{
    must(otelctx_attach((const uint8_t *)c->trace_id,
                        (const uint8_t *)c->span_id, c->flags) == 0);
    must(otelctx_attr(KEY, c->digits, DIGITS) == 0);
}

static void *use_own(void *unused)
{
    pthread_barrier_wait(&begin);
    for (uint32_t word = 1;; word += 2) {
        const struct context first = context_of(word),
                             second = context_of(~word);

        attach(&first);
        attach(&second);
        must(otelctx_detach() == 0);
    }
    return unused;
}

static void prepare(struct otelctx_record *record, uint32_t word)
{
    const struct context c = context_of(word);

    must(otelctx_record_init(record, (const uint8_t *)c.trace_id,
                             (const uint8_t *)c.span_id, c.flags) == 0);
    must(otelctx_record_attr(record, KEY, c.digits, DIGITS) == 0);
}

static void *use_programs(void *unused)
{
    static struct otelctx_record records[2];

    pthread_barrier_wait(&begin);
    for (uint32_t word = 1;; word += 2) {
        prepare(&records[0], word);
        must(otelctx_swap(&records[0], NULL) == 0);
        prepare(&records[1], ~word);
        must(otelctx_swap(&records[1], NULL) == 0);
        if (word % 8 == 1)
            must(otelctx_swap(NULL, NULL) == 0);
    }
    return unused;
}

/* As a runtime does, without calls. */
static void write_pinned(struct otelctx_record *record, const struct context *c)
{
    if (!is_torn)
        record->valid = 0;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(record->trace_id, c->trace_id, sizeof(record->trace_id));
    memcpy(record->span_id, c->span_id, sizeof(record->span_id));
    record->trace_flags = c->flags;
    record->attrs_size = 2 + DIGITS;
    record->attrs[0] = KEY;
    record->attrs[1] = DIGITS;
    memcpy(record->attrs + 2, c->digits, DIGITS);
    atomic_signal_fence(memory_order_seq_cst);
    record->valid = 1;
    atomic_signal_fence(memory_order_seq_cst);
}

static void *use_pinned(void *unused)
{
    struct otelctx_record *const record = otelctx_pin();

    must(record);
    pthread_barrier_wait(&begin);
    for (uint32_t word = 1;; word += 2) {
        const struct context first = context_of(word),
                             second = context_of(~word);

        write_pinned(record, &first);
        if (!is_torn)
            attach(&second);
    }
    return unused;
}

static void *(*const uses[])(void *) = {use_pinned, use_own, use_programs};

int main(int argc, char **argv)
{
    is_torn = argc == 2 && strcmp(argv[1], "torn") == 0;

    const unsigned threads =
        is_torn ? 1 : (unsigned)(sizeof(uses) / sizeof(uses[0]));
    pthread_t id;

    must(otelctx_key("key") == KEY);
    pthread_barrier_init(&begin, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        must(pthread_create(&id, NULL, uses[i], NULL) == 0);
    pthread_barrier_wait(&begin);
    puts("begin");
    fflush(stdout);
    return pthread_join(id, NULL);
}
