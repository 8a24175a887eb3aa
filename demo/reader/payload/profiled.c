/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/profiled.h"

const char *otelread_profiled_status_name(enum otelread_profiled_status status)
{
    static const char *const names[] = {
        [OTELREAD_PROFILED_NONE] = "none",
        [OTELREAD_PROFILED_ATTACHED] = "attached",
        [OTELREAD_PROFILED_DETACHED] = "detached",
        [OTELREAD_PROFILED_UNTOUCHED] = "untouched",
        [OTELREAD_PROFILED_TORN] = "torn",
        [OTELREAD_PROFILED_UNREADABLE] = "unreadable",
    };

    return names[status];
}

enum otelread_profiled_status
otelread_profiled_judge(const struct otelctx_profiler_context *context)
{
    if (context->checksum == 0)
        return OTELREAD_PROFILED_DETACHED;
    if (context->checksum !=
        otelctx_profiler_checksum(context->span_id, context->root_span_id))
        return OTELREAD_PROFILED_TORN;
    return context->span_id == 0 && context->root_span_id == 0
               ? OTELREAD_PROFILED_DETACHED
               : OTELREAD_PROFILED_ATTACHED;
}
