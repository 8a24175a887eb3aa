/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PLACE_H
#define OTELCTX_PLACE_H

/*
 * Where a thread-local variable is, without the call that its TLS descriptor
 * is for. In "static TLS", which is where those of preloaded libraries are, a
 * variable is at one distance from the thread pointer in all threads, and the
 * descriptor is a function that returns its second word: that distance.
 * Rule: Oliva & Araujo, "Speeding Up Thread-Local Storage Access in Dynamic
 * Libraries"; the same in glibc and musl, on x86-64 and aarch64.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    OTELCTX_PLACE_UNKNOWN = 1 /* no distance: they are even */
};

/* The descriptor of a symbol, by its name; NULL where there is none. */
#if defined(OTELCTX_LEGACY_TLS) || defined(OTELCTX_IN_EXECUTABLE)
#define OTELCTX_PLACE_DESCRIPTOR(symbol) ((const uintptr_t *)0)
#elif defined(__x86_64__)
#define OTELCTX_PLACE_DESCRIPTOR(symbol)                                       \
    __extension__({                                                            \
        const uintptr_t *at;                                                   \
        __asm__("lea " symbol "@tlsdesc(%%rip), %0" : "=a"(at));               \
        at;                                                                    \
    })
#else
#define OTELCTX_PLACE_DESCRIPTOR(symbol)                                       \
    __extension__({                                                            \
        const uintptr_t *at;                                                   \
        __asm__("adrp %0, :tlsdesc:" symbol "\n\t"                             \
                "add %0, %0, :tlsdesc_lo12:" symbol                            \
                : "=r"(at));                                                   \
        at;                                                                    \
    })
#endif

/* From the thread pointer to `at`, if its descriptor proves that this is so in
 * every thread; else OTELCTX_PLACE_UNKNOWN. In an executable, which the tests
 * make of the library, the linker leaves no descriptors: TLS is static. */
static inline uint64_t otelctx_place_of(const void *at,
                                        const uintptr_t *descriptor)
{
    const uintptr_t distance =
        (uintptr_t)at - (uintptr_t)__builtin_thread_pointer();

#ifdef OTELCTX_IN_EXECUTABLE
    const bool is_static = !descriptor;
#else
    const bool is_static = descriptor && descriptor[1] == distance;
#endif

    return is_static ? distance : OTELCTX_PLACE_UNKNOWN;
}

static inline void *otelctx_place_at(uint64_t place)
{
    return (char *)__builtin_thread_pointer() + (intptr_t)place;
}

#endif
