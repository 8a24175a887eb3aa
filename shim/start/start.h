/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/base/order.h"
#include "shim/process/context.h"

/* What has become of this process; outlives a fork. */
enum {
    OTELCTX_NOT_STARTED,
    OTELCTX_WATCHING, /* enabled, and a look is to come: watch.h */
    OTELCTX_ENABLED,
    OTELCTX_DISABLED
};
extern uint64_t otelctx_status __attribute__((visibility("hidden")));

int otelctx_start_first(void);

/*
 * Read the configuration and publish what it says, once: from the constructor,
 * or from the first call of another library's constructor that ran before.
 *
 * Returns 0, -ENOSYS (the configuration disables the shim in this process, or
 * another copy of it is at work) or -EBUSY, as otelctx_guard_enter() does.
 * Once it has returned 0, it is async-signal-safe.
 */
OTELCTX_INLINE int otelctx_start(void)
{
    return otelctx_load_acquire(&otelctx_status) == OTELCTX_ENABLED &&
                   !otelctx_context_has_yielded()
               ? 0
               : otelctx_start_first();
}
