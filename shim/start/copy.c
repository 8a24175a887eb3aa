/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/copy.h"

/* A datum, because an executable at a fixed address that takes the address of a
 * function has its own address for that function, which then is everybody's. */
extern const char otelctx_copy __attribute__((visibility("default")));
const char otelctx_copy = 1;
extern const char our_copy
    __attribute__((visibility("hidden"), alias("otelctx_copy")));

bool otelctx_copy_is_bound(void)
{
    return &otelctx_copy == &our_copy;
}
