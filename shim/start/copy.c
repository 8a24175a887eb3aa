/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/copy.h"

/* A variable, not a function: if an executable at a fixed address takes the
 * address of a function, all modules see the address of the executable's PLT
 * entry instead. */
extern const char otelctx_copy __attribute__((visibility("default")));
const char otelctx_copy = 1;
extern const char our_copy
    __attribute__((visibility("hidden"), alias("otelctx_copy")));

bool otelctx_copy_is_bound(void)
{
    return &otelctx_copy == &our_copy;
}
