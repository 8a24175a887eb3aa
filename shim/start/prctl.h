/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_START_PRCTL_H
#define OTELCTX_START_PRCTL_H

/*
 * The shim exports prctl(2), which tells it of two things that the host does:
 * publishing a process context, and installing a seccomp filter. Whatever is
 * asked for is passed on.
 */

#include <stdbool.h>

/* Find out whom to pass calls on to. */
void otelctx_prctl_start(void);

/* Is ours the one that the host calls? Not when a library before us has one,
 * or when we came by dlopen(3). */
bool otelctx_prctl_is_hosts(void);

#endif
