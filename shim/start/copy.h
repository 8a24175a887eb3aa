/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * If a process loads two copies of the shim, the dynamic linker binds the
 * host's calls to one of them, and the other copy does nothing. Is this the
 * bound one?
 */
bool otelctx_copy_is_bound(void);
