/* SPDX-License-Identifier: Apache-2.0 */

/* The exports for the process context: check the arguments, take the lock,
 * forward. */

#define OTELCTX_LINK
#include "shim/otelctx.h"

#include <errno.h>

#include "shim/context.h"
#include "shim/lifecycle.h"
#include "shim/preload.h"

/* A datum, because a program at a fixed address that takes the address of a
 * function has that in a place of its own, for everybody. */
OTELCTX_API const char otelctx_copy;
const char otelctx_copy = 1;
extern const char our_copy
    __attribute__((visibility("hidden"), alias("otelctx_copy")));

bool otelctx_api_is_hosts(void)
{
    return &otelctx_copy == &our_copy;
}

static int enter(void)
{
    const int err = otelctx_start();

    return err ? err : otelctx_lifecycle_enter();
}

static int stage(enum otelctx_place place, const char *key, const char *value)
{
    const struct otelctx_span unset = {0};
    const int err = otelctx_payload_set(
        otelctx_context_edit(), place, otelctx_span_from(key),
        value ? otelctx_span_from(value) : unset);

    return err ? err : otelctx_context_stage();
}

static int set(enum otelctx_place place, const char *key, const char *value)
{
    int err = enter();

    if (!err) {
        err = key ? stage(place, key, value) : -EINVAL;
        otelctx_lifecycle_leave();
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
    return set(OTELCTX_RESOURCE, key, value);
}

OTELCTX_API int otelctx_process_set_extra(const char *key, const char *value)
{
    return set(OTELCTX_EXTRA, key, value);
}

OTELCTX_API int otelctx_process_publish(void)
{
    const int err = enter();

    return err ? err : otelctx_lifecycle_publish(false);
}

OTELCTX_API int otelctx_process_drop(void)
{
    const int err = enter();

    if (!err) {
        otelctx_context_drop();
        otelctx_lifecycle_leave();
    }
    return err;
}

OTELCTX_API int otelctx_key(const char *name)
{
    int index = enter();

    if (!index) {
        otelctx_lifecycle_check(false);
        index = name ? otelctx_context_key(otelctx_span_from(name)) : -EINVAL;
        otelctx_lifecycle_leave();
    }
    return index;
}
