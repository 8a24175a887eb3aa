/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_MAPS_H
#define OTELCTX_MAPS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is there a mapping in this process that readers take for a process context,
 * and that does not begin at `ours`?
 *
 * scratch  for some lines of /proc/self/maps; longer ones do not count
 * size     of the scratch in bytes
 *
 * False also when that file cannot be read, or goes on for more than a MiB.
 * Rule: OTEP 4719, "Reading Protocol".
 */
bool otelctx_maps_has_other(const void *ours, char *scratch, size_t size);

#endif
