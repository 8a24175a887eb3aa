/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The context of a thread for a profiler in the same process, which reads the
 * thread-local variable of this name from its signal handler.
 * Source: "OTEL-Compatible Context Storage Architecture", "Profiler Mode:
 * Checksum Protocol"; the checksum is java-profiler's, until April 2026.
 */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define OTELCTX_PROFILER_SYMBOL "context_tls_v1"

enum {
    OTELCTX_PROFILER_TAGS = 10
};

struct otelctx_profiler_context {
    uint64_t span_id;
    uint64_t root_span_id; /* the lower half of the trace id */
    uint64_t checksum;     /* 0: none, or being written */
    uint32_t tags[OTELCTX_PROFILER_TAGS];
};
static_assert(sizeof(struct otelctx_profiler_context) == 64, "padding");
static_assert(offsetof(struct otelctx_profiler_context, tags) == 24, "");

static inline uint64_t otelctx_profiler_checksum(uint64_t span_id,
                                                 uint64_t root_span_id)
{
    const uint64_t factor = 0x9E3779B97F4A7C15;
    const uint64_t swapped = root_span_id << 32 | root_span_id >> 32;
    const uint64_t sum = (span_id * factor) ^ (swapped * factor);

    return sum == 0 ? UINT64_MAX : sum;
}
