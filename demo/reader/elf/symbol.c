/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/symbol.h"

static const char *const access_names[] = {
    [OTELREAD_TLSDESC_STATIC] = "tlsdesc-static",
    [OTELREAD_TLSDESC_DYNAMIC] = "tlsdesc-dynamic",
    [OTELREAD_GENERAL_DYNAMIC] = "general-dynamic",
    [OTELREAD_INITIAL_EXEC] = "initial-exec",
    [OTELREAD_LOCAL_EXEC] = "local-exec",
};

const char *otelread_access_name(enum otelread_access access)
{
    return access_names[access];
}

bool otelread_access_is_static(enum otelread_access access)
{
    return access != OTELREAD_TLSDESC_DYNAMIC &&
           access != OTELREAD_GENERAL_DYNAMIC;
}
