/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_ORDER_H
#define OTELCTX_ORDER_H

/*
 * The memory model that this project relies on, and its only atomics.
 *
 * Readers are other processes, or the kernel on another core: they see our
 * stores in the order in which they leave this core. OTEP 4719 therefore asks
 * for full fences between the steps of publishing and updating
 * (otelctx_fence). Between the threads of this process only the lock word and
 * a few flags are shared; they use acquire and release.
 *
 * A thread context is only looked at while its thread stands still, and in that
 * thread's own signal handlers: OTEP 4947, "Design Considerations". There it is
 * the compiler alone that must keep the order (otelctx_show).
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/compiler.h"

/* One store of the whole word, neither torn nor merged nor left out. */
OTELCTX_INLINE void otelctx_store(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/* Everything before it is visible to everybody before everything after it. Not
 * by MFENCE, which compilers take for small code and which takes much longer.
 */
OTELCTX_INLINE void otelctx_fence(void)
{
#ifdef __x86_64__
    __asm__ volatile("lock orl $0, (%%rsp)" : : : "memory", "cc");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

OTELCTX_INLINE uint64_t otelctx_load_acquire(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

OTELCTX_INLINE void otelctx_store_release(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/* Put `value` where `*expected` stands; else tell what stands there. */
OTELCTX_INLINE bool otelctx_swap_if(uint64_t *at, uint64_t *expected,
                                    uint64_t value)
{
    return __atomic_compare_exchange_n(at, expected, value, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* The compiler moves no access to memory past it; the machine may. A macro, for
 * a function of no instructions is not always inlined. */
#define otelctx_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* One store, after all that comes before it and before all that comes after,
 * for whoever stops or interrupts this thread. */
#define otelctx_show(at, value)                                                \
    do {                                                                       \
        otelctx_signal_fence();                                                \
        __atomic_store_n((at), (value), __ATOMIC_RELAXED);                     \
        otelctx_signal_fence();                                                \
    } while (0)

OTELCTX_INLINE uint64_t otelctx_exchange(uint64_t *at, uint64_t value)
{
    return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);
}

#endif
