/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The address of a thread-local variable without a call through its TLS
 * descriptor.
 *
 * A TLS descriptor is two words: a function and its argument. The variables of
 * a preloaded library are in static TLS, at the same offset from the thread
 * pointer in all threads. The function of such a descriptor returns its
 * argument, which is that offset. So an argument that equals the calling
 * thread's offset proves the offset for every thread.
 * Rule: Oliva & Araujo, "Speeding Up Thread-Local Storage Access in Dynamic
 * Libraries"; the same in glibc and musl, on x86-64 and aarch64.
 */

#include <stdbool.h>
#include <stdint.h>

#if defined(OTELCTX_LEGACY_TLS)
/* The legacy TLS dialect calls this function of the dynamic linker. Weak, so
 * that the shim also loads into a program without libc. */
__asm__(".weak __tls_get_addr");
#endif

enum {
    OTELCTX_TLS_OFFSET_UNKNOWN = 1 /* real offsets are even */
};

/* The TLS descriptor of a symbol, given its name; NULL if it has none. */
#if defined(OTELCTX_LEGACY_TLS) || defined(OTELCTX_IN_EXECUTABLE)
#define OTELCTX_TLS_DESCRIPTOR(symbol) ((const uintptr_t *)0)
#elif defined(__x86_64__)
#define OTELCTX_TLS_DESCRIPTOR(symbol)                                         \
    __extension__({                                                            \
        const uintptr_t *at;                                                   \
        __asm__("lea " symbol "@tlsdesc(%%rip), %0" : "=a"(at));               \
        at;                                                                    \
    })
#else
#define OTELCTX_TLS_DESCRIPTOR(symbol)                                         \
    __extension__({                                                            \
        const uintptr_t *at;                                                   \
        __asm__("adrp %0, :tlsdesc:" symbol "\n\t"                             \
                "add %0, %0, :tlsdesc_lo12:" symbol                            \
                : "=r"(at));                                                   \
        at;                                                                    \
    })
#endif

/* The offset of `at` from the thread pointer, if the descriptor proves that it
 * is the same in every thread; else OTELCTX_TLS_OFFSET_UNKNOWN. The unit tests
 * link the shim into an executable. There the linker leaves no descriptors, and
 * TLS is always static. */
static inline uint64_t otelctx_tls_offset_of(const void *at,
                                             const uintptr_t *descriptor)
{
    const uintptr_t offset =
        (uintptr_t)at - (uintptr_t)__builtin_thread_pointer();

#ifdef OTELCTX_IN_EXECUTABLE
    const bool is_static = !descriptor;
#else
    const bool is_static = descriptor && descriptor[1] == offset;
#endif

    return is_static ? offset : OTELCTX_TLS_OFFSET_UNKNOWN;
}

/* The calling thread's variable at an offset. */
static inline void *otelctx_tls_offset_at(uint64_t offset)
{
    return (char *)__builtin_thread_pointer() + (intptr_t)offset;
}
