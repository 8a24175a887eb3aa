/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the process context's first publication and updates are compared
 * with. */

#include "tests/bench/bench.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/wire/process.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Not the name that readers, and the shim, look for. */
static const char floor_name[] = "FLOOR_CTX";

enum {
    PAGE = 4096
};

static struct otelctx_header *header; /* which is updated */

static void name_mapping(void *at)
{
    (void)syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, PAGE,
                  floor_name);
}

static uint64_t boottime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now); /* through the vDSO */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The floor of OTEP 4719, "Publication Protocol": its system calls and
 * stores. */
static struct otelctx_header *publish_bare(void)
{
    struct otelctx_header *at;
    struct rlimit limit; /* whoever exceeds it dies */
    struct timespec now;
    int fd;

    (void)syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit);
    fd = (int)syscall(SYS_memfd_create, floor_name,
                      MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)syscall(SYS_ftruncate, fd, PAGE);
    at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    (void)syscall(SYS_madvise, at, PAGE, MADV_DONTFORK);
    (void)syscall(SYS_close, fd);
    (void)syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    at->version = OTELCTX_HEADER_VERSION;
    memset(at + 1, 'x', 200);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(at->signature, "FLOORCTX", 8);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    at->published_at_ns = (uint64_t)now.tv_nsec;
    name_mapping(at);
    return at;
}

static double floor_first(unsigned times)
{
    double sum = 0;

    for (unsigned i = 0; i < times; i++) {
        const double begin = bench_now_ns();
        void *at;

        at = publish_bare();
        sum += bench_now_ns() - begin;
        munmap(at, PAGE);
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
    name_mapping(header);
})
