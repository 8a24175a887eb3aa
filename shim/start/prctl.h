/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The shim exports prctl(2), which tells it of two things that the host does:
 * publishing a process context, and installing a seccomp filter. Each call is
 * passed on.
 */

#include <stdbool.h>

/* Find the next definition of prctl, to which calls are passed on. */
void otelctx_prctl_start(void);

/* Return whether the host calls the shim's prctl. It does not where an earlier
 * library exports one, or where dlopen(3) loaded the shim. */
bool otelctx_prctl_is_hosts(void);
