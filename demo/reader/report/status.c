/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/report/status.h"

const char *otelread_status_name(enum otelread_status status)
{
    static const char *const names[] = {
        [OTELREAD_OK] = "ok",
        [OTELREAD_ERROR] = "error",
        [OTELREAD_USAGE] = "usage",
        [OTELREAD_NO_PROCESS] = "no_process",
        [OTELREAD_NO_PERMISSION] = "no_permission",
        [OTELREAD_NO_CONTEXT] = "no_context",
        [OTELREAD_SEVERAL] = "several_contexts",
        [OTELREAD_INVALID] = "invalid_context",
        [OTELREAD_BUSY] = "busy",
    };

    return names[status];
}
