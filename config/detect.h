/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/* What the texts of the system's files tell of a process. */

/* The id of the container, in the text of /proc/self/cgroup or of
 * /proc/self/mountinfo: 64 hexadecimal digits, or an empty span. */
struct otelctx_span otelctx_detect_container(struct otelctx_span text);

/* The value of a variable in the text of /etc/os-release, without its quotes;
 * its `at` is NULL when there is none. */
struct otelctx_span otelctx_detect_release(struct otelctx_span text,
                                           struct otelctx_span name);
