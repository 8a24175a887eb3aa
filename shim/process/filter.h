/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_FILTER_H
#define OTELCTX_PROCESS_FILTER_H

#include <stdbool.h>

/*
 * Seccomp filters that are installed after the shim has started. They may kill
 * a process that makes the shim's system calls. Earlier filters have already
 * let the shim start.
 */

/* Remember the current mode. Only the first call counts. */
void otelctx_filter_start(void);

/* The host is calling prctl to install a filter. */
void otelctx_filter_note(void);

/* Was a filter installed since the start? If the process had one before, a
 * further one that bypasses libc is not noticed. */
bool otelctx_filter_came(void);

#endif
