/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The storage for a profiler in this process: see wire/profiler.h. */

#include "shim/base/order.h"
#include "shim/base/tls_offset.h"
#include "shim/wire/profiler.h"

/* The variable, and its offset from the thread pointer; 0: unknown. */
extern _Thread_local struct otelctx_profiler_context context_tls_v1;
extern uint64_t otelctx_profiler_offset __attribute__((visibility("hidden")));

OTELCTX_INLINE struct otelctx_profiler_context *otelctx_profiler_context(void)
{
    const uint64_t offset = otelctx_load_acquire(&otelctx_profiler_offset);

    return offset ? otelctx_tls_offset_at(offset) : &context_tls_v1;
}

/* Show the calling thread's ids; both 0: no context. Readers are signal
 * handlers of this thread, and, by the text, other threads: see base/order.h.
 */
OTELCTX_INLINE void otelctx_profiler_show(uint64_t span_id,
                                          uint64_t root_span_id)
{
    struct otelctx_profiler_context *const c = otelctx_profiler_context();

    otelctx_store(&c->checksum, 0);
    otelctx_fence_release();
    otelctx_store(&c->span_id, span_id);
    otelctx_store(&c->root_span_id, root_span_id);
    otelctx_store_release(&c->checksum,
                          otelctx_profiler_checksum(span_id, root_span_id));
}

/* index: below OTELCTX_PROFILER_TAGS */
void otelctx_profiler_tag(unsigned index, uint32_t value);

/* Store the TLS offset of the variable, if it can be known. */
void otelctx_profiler_cache_tls_offset(void);
