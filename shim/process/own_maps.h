/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What /proc/self/maps tells about process contexts. */
struct otelctx_own_maps {
    const void *other; /* another publisher's, which readers accept; or NULL */
    bool has_ours;     /* our mapping has a name that readers look for */
    bool is_whole;     /* the file was read to its end */
};

/*
 * Look for mappings with a name of OTEP 4719.
 *
 * ours     where our mapping begins, or NULL
 * scratch  memory for a part of the file; lines longer than that are ignored
 * size     of the scratch in bytes
 *
 * Stops after the part with another publisher's context, and after one MiB.
 * Meanwhile the file is open, and other threads can see its descriptor.
 * Rule: OTEP 4719, "Reading Protocol".
 */
void otelctx_own_maps_look(const void *ours, char *scratch, size_t size,
                           struct otelctx_own_maps *out);
