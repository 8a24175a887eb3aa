/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/copy.h"

/* COPY: copy_first or copy_second. */
bool COPY(void) __attribute__((visibility("default")));

bool COPY(void)
{
    return otelctx_copy_is_bound();
}
