/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The memory model that this project relies on, and all of its atomic
 * operations.
 *
 * Process context: readers are other processes, or the kernel on another core.
 * They may see the stores of this core in another order than that of the
 * program. OTEP 4719 therefore asks for full fences between the steps of
 * publishing and updating (otelctx_fence). The threads of this process share
 * only the lock word and a few flags, with acquire and release.
 *
 * Thread context: readers stop the thread first, or run in its signal handlers;
 * OTEP 4947, "Design Considerations". The processor then shows all stores in
 * program order, and only the compiler must be kept from reordering them
 * (otelctx_store_visible).
 *
 * Ring and profiler: readers are other threads or processes that stop nobody.
 * The writer marks the beginning of a change, then a release fence, and stores
 * the end with release; a reader loads the mark with acquire, and after an
 * acquire fence loads it once more. This is a sequence lock: Boehm, "Can
 * Seqlocks Get Along With Programming Language Memory Models?".
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/compiler.h"

/* Store with one instruction: the compiler neither splits, merges nor drops
 * the store. */
OTELCTX_INLINE void otelctx_store(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/* Full fence: all accesses to memory before it take effect before all those
 * after it. Not MFENCE, which compilers emit when they optimise for size: a
 * locked instruction does the same in much less time. */
OTELCTX_INLINE void otelctx_fence(void)
{
#ifdef __x86_64__
    __asm__ volatile("lock orl $0, (%%rsp)" : : : "memory", "cc");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

OTELCTX_INLINE uint64_t otelctx_load(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

OTELCTX_INLINE uint32_t otelctx_load_32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

OTELCTX_INLINE void otelctx_store_release_32(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/* Stores after this fence take effect after the stores and loads before it. */
OTELCTX_INLINE void otelctx_fence_release(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Loads before this fence take effect before the loads and stores after it. */
OTELCTX_INLINE void otelctx_fence_acquire(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

OTELCTX_INLINE uint64_t otelctx_load_acquire(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

OTELCTX_INLINE void otelctx_store_release(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/* If *at equals *expected, store value there and return true. Otherwise load
 * *at into *expected and return false. */
OTELCTX_INLINE bool otelctx_compare_exchange(uint64_t *at, uint64_t *expected,
                                             uint64_t value)
{
    return __atomic_compare_exchange_n(at, expected, value, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Compiler barrier: the compiler moves no access to memory across it, the
 * processor may. A macro, because compilers do not always inline a function,
 * even one without instructions. */
#define otelctx_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Store with one instruction. A reader that stops or interrupts this thread
 * sees the store after all earlier accesses and before all later ones. */
#define otelctx_store_visible(at, value)                                       \
    do {                                                                       \
        otelctx_signal_fence();                                                \
        __atomic_store_n((at), (value), __ATOMIC_RELAXED);                     \
        otelctx_signal_fence();                                                \
    } while (0)

OTELCTX_INLINE uint64_t otelctx_exchange(uint64_t *at, uint64_t value)
{
    return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);
}
