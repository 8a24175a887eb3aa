/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/run/doctor/checks.h"

#include <sys/types.h>

/* What a reader sees of a process. */
enum otelread_seen {
    OTELREAD_SEEN_CONTEXT,
    OTELREAD_SEEN_SEVERAL,
    OTELREAD_SEEN_BROKEN, /* a context that a reader refuses */
    OTELREAD_SEEN_NONE
};

struct otelread_view {
    enum otelread_seen seen;
    const char *message;      /* what the reader says of the context */
    const char *service_name; /* of a context; NULL if it has none */
};

/* Why a process has no context, or no good one. The caller may read its
 * memory. */
void otelread_running_check(pid_t pid, const struct otelread_view *view,
                            struct otelrun_checks *checks);
