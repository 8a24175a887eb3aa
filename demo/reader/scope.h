/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_SCOPE_H
#define OTELREAD_SCOPE_H

#include "demo/reader/objects.h"

/*
 * Which definition counts when several objects have one: the executable's,
 * else the first in the dynamic linker's list, which is in the order in which
 * they were loaded, preloaded ones first.
 * Returns NULL when no object defines anything.
 */
const struct otelread_object *
otelread_scope_first(const struct otelread_object *objects, size_t count);

#endif
