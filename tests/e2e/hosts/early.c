/* SPDX-License-Identifier: Apache-2.0 */

/* A library whose constructor makes calls, possibly before the shim's
 * constructor. */

#include "shim/otelctx.h"

__attribute__((constructor)) static void early(void)
{
    otelctx_process_set("early", "bird");
    otelctx_process_publish();
}
