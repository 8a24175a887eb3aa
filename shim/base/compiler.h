/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_BASE_COMPILER_H
#define OTELCTX_BASE_COMPILER_H

/* Function attributes. */

/* Inline even where the compiler optimises for size: the body is shorter than
 * a call. */
#define OTELCTX_INLINE static inline __attribute__((always_inline))

/* Rarely called. Never inlined, or the caller's frequent path would save the
 * registers that this function needs. */
#define OTELCTX_RARE __attribute__((cold, noinline))

#endif
