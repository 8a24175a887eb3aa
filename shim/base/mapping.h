/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/failure.h"
#include "shim/base/sys.h"

/* The memory that readers look for in /proc/PID/maps: readable, writable,
 * private, and not inherited by fork. */
struct otelctx_mapping {
    uint8_t *at;   /* NULL if nothing is mapped */
    size_t size;   /* bytes, one page */
    bool has_name; /* that of its memfd, or given by otelctx_mapping_name() */
};

/*
 * Map a memfd, or anonymous memory where the system refuses memfds.
 *
 * name  of the memfd
 *
 * Returns 0 or -errno; *failure then names the system call, and nothing stays
 * mapped.
 * Rule: OTEP 4719, "Publication Protocol", steps 2 to 5.
 */
int otelctx_mapping_open(const char *name, size_t size,
                         struct otelctx_mapping *out,
                         struct otelctx_failure *failure);

/*
 * Name the mapping with prctl(2). Some readers hook that call, so it is made
 * for every update, and also for a mapping that has a name already.
 *
 * Returns 0, or -errno if the mapping has no name at all. On a kernel that
 * cannot name mappings, a mapping of a memfd still has the memfd's name.
 * Rule: OTEP 4719, "Publication Protocol", step 10.
 */
OTELCTX_INLINE int otelctx_mapping_name(struct otelctx_mapping *mapping,
                                        const char *name)
{
    const int err = otelctx_sys_name(mapping->at, mapping->size, name);

    if (!err)
        mapping->has_name = true;
    return mapping->has_name ? 0 : err;
}

void otelctx_mapping_close(struct otelctx_mapping *mapping);

/* Map anonymous memory for a long payload, not inherited by fork either.
 * Returns as otelctx_mapping_open(). */
int otelctx_mapping_reserve(size_t size, uint8_t **out,
                            struct otelctx_failure *failure);
