/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Three threads work in spans, and a profiler in the same process counts how
 * often it finds each span.
 *
 *     cc -D_GNU_SOURCE -I../../shim profiler.c -o profiler -pthread -ldl
 *     OTELCTX_THREAD_STORAGE=profiler \
 *         LD_PRELOAD=libotelctx_preload.so ./profiler 1000
 *
 * The idiom: SIGPROF interrupts whichever thread is using the processor, and
 * its handler reads that thread's context_tls_v1. The checksum says whether the
 * handler has interrupted a write: such a sample has no span. Here the root
 * span id follows from the span id, so a sample that mixes two contexts and yet
 * has the right checksum would be seen; the program counts those as torn.
 *
 * What a profiler cannot do: find the variable from the handler with dlsym(3),
 * which is not async-signal-safe. Each thread does so once, before it is
 * sampled, and keeps the address.
 */

#include <otelctx.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum {
    WORKERS = 3,
    SPANS = 2 /* of each worker */
};

/* The thread-local variable context_tls_v1. */
struct context {
    _Atomic uint64_t span_id, root_span_id, checksum; /* checksum 0: none */
    uint32_t tags[10];
};

static uint64_t checksum_of(uint64_t span_id, uint64_t root_span_id)
{
    const uint64_t factor = 0x9E3779B97F4A7C15;
    const uint64_t swapped = root_span_id << 32 | root_span_id >> 32;
    const uint64_t sum = (span_id * factor) ^ (swapped * factor);

    return sum == 0 ? UINT64_MAX : sum;
}

static uint64_t root_of(uint64_t span_id)
{
    return ~span_id;
}

/* What the samples found. */
static atomic_uint spans[WORKERS * SPANS + 1]; /* [0]: being written */
static atomic_uint torn, all;

static _Thread_local const struct context *own; /* NULL: not to be sampled */

static void sample(int signal)
{
    const struct context *const c = own;
    uint64_t checksum, span, root;

    (void)signal;
    if (!c)
        return;
    checksum = atomic_load_explicit(&c->checksum, memory_order_acquire);
    span = atomic_load_explicit(&c->span_id, memory_order_relaxed);
    root = atomic_load_explicit(&c->root_span_id, memory_order_relaxed);
    if (checksum == 0 || checksum != checksum_of(span, root))
        atomic_fetch_add(&spans[0], 1); /* it is being written */
    else if (span == 0 || span > (uint64_t)WORKERS * SPANS ||
             root != root_of(span))
        atomic_fetch_add(&torn, 1);
    else
        atomic_fetch_add(&spans[span], 1);
    atomic_fetch_add(&all, 1);
}

static unsigned wanted;

/* Goes from span to span as fast as it can, so that samples interrupt writes.
 */
static void *work(void *argument)
{
    const uint64_t first = *(const uint64_t *)argument;

    (void)otelctx_attach64(first, root_of(first));
    own = dlsym(RTLD_DEFAULT, "context_tls_v1");
    while (atomic_load(&all) < wanted)
        for (uint64_t span = first; span < first + SPANS; span++)
            (void)otelctx_attach64(span, root_of(span));
    own = NULL;
    (void)otelctx_detach();
    return NULL;
}

static void sample_every(suseconds_t interval_us)
{
    struct itimerval timer = {.it_interval.tv_usec = interval_us,
                              .it_value.tv_usec = interval_us};

    setitimer(ITIMER_PROF, &timer, NULL);
}

int main(int argc, char **argv)
{
    static uint64_t firsts[WORKERS];
    pthread_t threads[WORKERS];
    sigset_t profiling;
    unsigned in_spans = 0;

    if (!(otelctx_storage() > 0 && otelctx_storage() & OTELCTX_PROFILER)) {
        puts("no context_tls_v1: OTELCTX_THREAD_STORAGE=profiler is not set");
        return 0;
    }
    wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
    sigaction(SIGPROF,
              &(struct sigaction){.sa_handler = sample, .sa_flags = SA_RESTART},
              NULL);
    for (unsigned i = 0; i < WORKERS; i++) {
        firsts[i] = 1 + SPANS * i;
        if (pthread_create(&threads[i], NULL, work, &firsts[i]))
            return 1;
    }
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    /* Before Linux 6.4 the main thread would get all of them. */
    pthread_sigmask(SIG_BLOCK, &profiling, NULL);
    sample_every(1000);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    sample_every(0);

    for (unsigned i = 1; i <= WORKERS * SPANS; i++) {
        printf("span %u: %u samples\n", i, atomic_load(&spans[i]));
        in_spans += atomic_load(&spans[i]);
    }
    printf("being written: %u samples\n", atomic_load(&spans[0]));
    printf("torn: %u of %u\n", atomic_load(&torn), atomic_load(&all));
    return in_spans == 0 || atomic_load(&torn) != 0;
}
