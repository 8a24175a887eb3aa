/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/profiler.h"

uint64_t otelctx_profiler_offset;

void otelctx_profiler_cache_tls_offset(void)
{
    const uint64_t found = otelctx_tls_offset_of(
        &context_tls_v1, OTELCTX_TLS_DESCRIPTOR("context_tls_v1"));

    if (found != OTELCTX_TLS_OFFSET_UNKNOWN)
        otelctx_store_release(&otelctx_profiler_offset, found);
}

void otelctx_profiler_tag(unsigned index, uint32_t value)
{
    otelctx_store_visible(&otelctx_profiler_context()->tags[index], value);
}
