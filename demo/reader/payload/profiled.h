/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/wire/profiler.h"

#include <stdbool.h>

/*
 * What a thread's variable for a profiler in the process says. The names are in
 * otelctx-read(1).
 */
enum otelread_profiled_status {
    OTELREAD_PROFILED_NONE, /* the process has no such variable */
    OTELREAD_PROFILED_ATTACHED,
    OTELREAD_PROFILED_DETACHED, /* or being written */
    OTELREAD_PROFILED_UNTOUCHED,
    OTELREAD_PROFILED_TORN,       /* the checksum is that of other ids */
    OTELREAD_PROFILED_UNREADABLE, /* its memory */
};

/* "attached" and so on; never NULL. */
const char *otelread_profiled_status_name(enum otelread_profiled_status status);

/* ATTACHED, DETACHED or TORN. */
enum otelread_profiled_status
otelread_profiled_judge(const struct otelctx_profiler_context *context);

/* Is there a context, whole or torn? */
static inline bool otelread_profiled_has(enum otelread_profiled_status status)
{
    return status == OTELREAD_PROFILED_ATTACHED ||
           status == OTELREAD_PROFILED_TORN;
}
