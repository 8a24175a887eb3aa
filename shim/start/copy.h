/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_START_COPY_H
#define OTELCTX_START_COPY_H

#include <stdbool.h>

/*
 * Of two copies of the shim in one process, the dynamic linker binds the host's
 * calls to one. Is it this one? The other copy stands back.
 */
bool otelctx_copy_is_bound(void);

#endif
