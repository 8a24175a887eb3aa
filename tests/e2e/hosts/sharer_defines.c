/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The variable as every writer defines it, for an executable that exports it
 * and for a library. With SHARER_EARLY in the environment a record is attached
 * before the shim's constructor runs.
 */

#include "sharer_slot.h"

#include <stdlib.h>

_Thread_local struct otelctx_record *otel_thread_ctx_v1;

struct otelctx_record **sharer_slot(void)
{
    return &otel_thread_ctx_v1;
}

__attribute__((constructor)) static void early(void)
{
    static struct otelctx_record record = {
        .trace_id = {0xea}, .span_id = {0xea}, .valid = 1};

    if (getenv("SHARER_EARLY"))
        otel_thread_ctx_v1 = &record;
}
