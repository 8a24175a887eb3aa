/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host whose threads all do the same at once, in C11 and in C++11:
 * crowd THREADS KEYS [LIBRARY]
 *
 * Each registers all the keys "key.0", "key.1"..., beginning with another one
 * than its neighbours; attaches ids of its own, with an attribute, and looks
 * that nothing else comes back, a thousand times, with a record swapped in and
 * out in between. Then the keys are printed in the order of their indexes, and
 * the threads stay as they are until stdin ends. Without the shim, "no shim" is
 * printed instead. LIBRARY is opened first.
 */

#include "shim/otelctx.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 64,
    KEYS_MAX = 256,
    ROUNDS = 1000,
    STRIDE = 37 /* between what two neighbours begin with */
};

static unsigned threads, keys;
static unsigned number[THREADS_MAX];
static int index_of[THREADS_MAX][KEYS_MAX];
static pthread_barrier_t done, end;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void register_keys(unsigned me)
{
    char name[16];
    unsigned i;

    for (i = 0; i < keys; i++) {
        const unsigned key = (i + me * STRIDE) % keys;

        snprintf(name, sizeof(name), "key.%u", key);
        index_of[me][key] = otelctx_key(name);
    }
}

/* What is attached: all of an id is that byte; NULL: nothing. */
static void expect_id(const uint8_t *byte)
{
    struct otelctx_ids ids;

    if (!byte) {
        must(otelctx_get(&ids) == -ENOENT);
        return;
    }
    must(otelctx_get(&ids) == 0);
    must(ids.trace_id[0] == *byte && ids.trace_id[15] == *byte);
    must(ids.span_id[0] == *byte && ids.span_id[7] == *byte);
    must(ids.trace_flags == *byte % 2);
}

static void attach(unsigned me, uint8_t byte)
{
    uint8_t id[16];
    char text[32];

    memset(id, byte, sizeof(id));
    snprintf(text, sizeof(text), "thread %u", me);
    must(otelctx_attach(id, id, byte % 2) == 0);
    must(otelctx_attr((uint8_t)index_of[me][0], text, strlen(text)) == 0);
}

static void swap(uint8_t byte)
{
    struct otelctx_record record, *previous;
    const uint8_t other = (uint8_t)~byte;
    uint8_t id[16];

    memset(id, other, sizeof(id));
    must(otelctx_record_init(&record, id, id, other % 2) == 0);
    must(otelctx_swap(&record, &previous) == 0);
    expect_id(&other);
    must(otelctx_swap(previous, NULL) == 0);
}

static void work(unsigned me)
{
    const uint8_t byte = (uint8_t)(me + 1);
    unsigned i;

    for (i = 0; i < ROUNDS; i++) {
        expect_id(NULL);
        attach(me, byte);
        expect_id(&byte);
        swap(byte);
        expect_id(&byte);
        must(otelctx_detach() == 0);
    }
    attach(me, byte);
}

static void *run(void *me)
{
    const unsigned *const mine = (const unsigned *)me;

    register_keys(*mine);
    if (otelctx_abi() > 0)
        work(*mine);
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&end);
    return NULL;
}

/* All threads have to agree. */
static void print_keys(void)
{
    unsigned thread, key;
    int at;

    for (thread = 1; thread < threads; thread++)
        must(memcmp(index_of[0], index_of[thread], sizeof(index_of[0])) == 0);
    for (at = 0; at < (int)keys; at++)
        for (key = 0; key < keys; key++)
            if (index_of[0][key] == at)
                printf("key.%u\n", key);
}

int main(int argc, char **argv)
{
    static pthread_t id[THREADS_MAX];
    unsigned i;

    if (argc < 3)
        return 2;
    threads = (unsigned)strtoul(argv[1], NULL, 10);
    keys = (unsigned)strtoul(argv[2], NULL, 10);
    must(threads <= THREADS_MAX && keys <= KEYS_MAX);
    if (argc > 3)
        must(dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL));
    pthread_barrier_init(&done, NULL, threads + 1);
    pthread_barrier_init(&end, NULL, threads + 1);
    for (i = 0; i < threads; i++) {
        number[i] = i;
        must(pthread_create(&id[i], NULL, run, &number[i]) == 0);
    }
    pthread_barrier_wait(&done);
    if (otelctx_abi() > 0)
        print_keys();
    else
        puts("no shim");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    pthread_barrier_wait(&end);
    for (i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    return 0;
}
