/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Attributes of functions and variables. */

/* Inline even where the compiler optimises for size: the body is shorter than
 * a call. */
#define OTELCTX_INLINE static inline __attribute__((always_inline))

/* Rarely called. Never inlined, or the caller's frequent path would save the
 * registers that this function needs. */
#define OTELCTX_RARE __attribute__((cold, noinline))

/* In memory, the variables of a source that have this attribute follow each
 * other as they do in the source. clang never reorders any. */
#ifdef __clang__
#define OTELCTX_IN_ORDER
#else
#define OTELCTX_IN_ORDER __attribute__((no_reorder))
#endif
