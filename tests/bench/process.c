/* SPDX-License-Identifier: Apache-2.0 */

/* The process context: its first publication and its updates. */

#include "tests/bench/bench.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/otelctx.h"
#include "shim/wire/process.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Not the name that readers, and the shim, look for. */
static const char name[] = "FLOOR_CTX";

enum {
    PAGE = 4096
};

static struct otelctx_header *header;

static void name_mapping(void)
{
    (void)syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, PAGE,
                  name);
}

static uint64_t boottime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now); /* through the vDSO */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The floor of OTEP 4719, "Publication Protocol": its system calls and
 * stores. */
static void publish_bare(void)
{
    struct rlimit limit; /* whoever exceeds it dies */
    struct timespec now;
    int fd;

    (void)syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit);
    fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)syscall(SYS_ftruncate, fd, PAGE);
    header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    (void)syscall(SYS_madvise, header, PAGE, MADV_DONTFORK);
    (void)syscall(SYS_close, fd);
    (void)syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    header->version = OTELCTX_HEADER_VERSION;
    memset(header + 1, 'x', 200);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(header->signature, "FLOORCTX", 8);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    header->published_at_ns = (uint64_t)now.tv_nsec;
    name_mapping();
}

static double floor_first(unsigned times)
{
    double sum = 0;

    for (unsigned i = 0; i < times; i++) {
        const double begin = bench_now_ns();

        publish_bare();
        sum += bench_now_ns() - begin;
        munmap(header, PAGE);
    }
    return sum;
}

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

/* The floor of "Updating Protocol": read the clock, store, name the mapping. */
BENCH(floor_update, {
    const uint64_t now_ns = boottime_ns();

    __atomic_store_n(&header->published_at_ns, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(header + 1, (int)i, 200);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&header->published_at_ns, now_ns, __ATOMIC_RELAXED);
    name_mapping();
})

BENCH(update, {
    const char value[] = {(char)('a' + i % 26), '\0'};

    (void)otelctx_process_set("service.version", value);
    (void)otelctx_process_publish();
})

BENCH(publish_again, (void)otelctx_process_publish())

int main(int count, char **words)
{
    static const struct bench_subject firsts[] = {
        {"first publication", "floor", floor_first},
        {"first publication", "ours", first},
    };
    static const struct bench_subject updates[] = {
        {"update", "floor", floor_update},
        {"update", "ours", update},
        {"update without a change", "ours", publish_again},
    };
    const unsigned repetitions = bench_number(words[count - 1]);

    bench_wait_for_look();
    if (count == 3) /* for callgrind: one of the updates, so many times */
        return updates[bench_number(words[1])].run(repetitions) < 0;
    bench_pin();
    bench_measure(firsts, 2, repetitions, 100);
    publish_bare();
    bench_measure(updates, 3, repetitions, 2000);
    return 0;
}
