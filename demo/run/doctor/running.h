/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_RUNNING_H
#define OTELRUN_RUNNING_H

#include "demo/run/doctor/checks.h"

#include <sys/types.h>

/* What a reader sees of a process. */
enum otelrun_seen {
    OTELRUN_SEEN_CONTEXT,
    OTELRUN_SEEN_SEVERAL,
    OTELRUN_SEEN_BROKEN, /* a context that a reader refuses */
    OTELRUN_SEEN_NONE
};

struct otelrun_view {
    enum otelrun_seen seen;
    const char *message;      /* what the reader says of the context */
    const char *service_name; /* of a context; NULL if it has none */
};

/* Why a process has no context, or no good one. The caller may read its
 * memory. */
void otelrun_running_check(pid_t pid, const struct otelrun_view *view,
                           struct otelrun_checks *checks);

#endif
