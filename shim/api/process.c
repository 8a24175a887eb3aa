/* SPDX-License-Identifier: Apache-2.0 */

/* The exported functions for the process context. They check their arguments,
 * take the lock and call shim/process. */

#define OTELCTX_LINK
#include <errno.h>

#include "shim/otelctx.h"
#include "shim/process/context.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"
#include "shim/process/versions.h"
#include "shim/start/start.h"

static int start_and_enter(void)
{
    const int err = otelctx_start();

    return err ? err : otelctx_guard_enter();
}

static int stage(enum otelctx_place place, const char *key, const char *value)
{
    const struct otelctx_span unset = {0};
    const int err = otelctx_payload_set(
        otelctx_versions_edit(), place, otelctx_span_from(key),
        value ? otelctx_span_from(value) : unset);

    return err ? err : otelctx_context_stage();
}

static int lock_and_stage(enum otelctx_place place, const char *key,
                          const char *value)
{
    int err = start_and_enter();

    if (!err) {
        if (otelctx_context_has_yielded())
            otelctx_rival_check(OTELCTX_RIVAL_IF_GONE);
        err = key ? stage(place, key, value) : -EINVAL;
        otelctx_guard_leave();
    }
    return err;
}

OTELCTX_API int otelctx_abi(void)
{
    const int err = otelctx_start();

    return err ? err : OTELCTX_ABI;
}

OTELCTX_API int otelctx_process_set(const char *key, const char *value)
{
    return lock_and_stage(OTELCTX_RESOURCE, key, value);
}

OTELCTX_API int otelctx_process_set_extra(const char *key, const char *value)
{
    return lock_and_stage(OTELCTX_EXTRA, key, value);
}

OTELCTX_API int otelctx_process_publish(void)
{
    const int err = start_and_enter();

    return err ? err : otelctx_guard_publish_and_leave();
}

OTELCTX_API int otelctx_process_drop(void)
{
    const int err = start_and_enter();

    if (!err) {
        otelctx_context_drop();
        otelctx_guard_leave();
    }
    return err;
}

OTELCTX_API int otelctx_key(const char *name)
{
    int index = start_and_enter();

    if (!index) {
        otelctx_rival_check(OTELCTX_RIVAL_AT_CALL);
        index = otelctx_context_key(otelctx_span_from(name ? name : ""));
        otelctx_guard_leave();
    }
    return index;
}
