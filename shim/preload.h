/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PRELOAD_H
#define OTELCTX_PRELOAD_H

#include <stdbool.h>

/*
 * Read the configuration and publish what it says, once: from the constructor,
 * or from the first call of another library's constructor that ran before.
 *
 * Returns 0 or -ENOSYS (the configuration disables the shim in this process, or
 * another copy of it is at work).
 */
int otelctx_start(void);

/* Are our functions the ones that the host calls? Of two copies of the shim in
 * one process only one is, and the other one stands back. */
bool otelctx_api_is_hosts(void);

/* Has otelctx_start() returned 0 before? Async-signal-safe. */
bool otelctx_has_started(void);

#endif
