/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_COMPILER_H
#define OTELCTX_COMPILER_H

/* What the compiler is told of a function. */

/* Smaller than a call, also where the compiler is to make small code. */
#define OTELCTX_INLINE static inline __attribute__((always_inline))

/* Small, and out of the way: who calls it does not save registers for it. */
#define OTELCTX_RARE __attribute__((cold, noinline))

#endif
