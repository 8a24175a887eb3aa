/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/object.h"

/*
 * Moves the objects that the dynamic linker has loaded to the front, in its
 * order: first the program, then the preloaded libraries. The others are files
 * that the program maps as data.
 * Returns how many are loaded, or 0: there is no dynamic linker, or its
 * lists cannot be followed to their end.
 */
size_t otelread_scope_loaded(struct otelread_object *objects, size_t count);

/*
 * Which definition counts when several objects have one: the executable's,
 * else the first one's. Returns NULL when no object defines anything.
 */
const struct otelread_object *
otelread_scope_first(const struct otelread_object *objects, size_t count);
