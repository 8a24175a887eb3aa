/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_MAPPING_H
#define OTELCTX_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/sys.h"
#include "shim/wire.h"

/* The memory that readers look for: rw-p, private, not inherited by fork. */
struct otelctx_mapping {
    uint8_t *at; /* NULL when there is none */
    size_t size; /* bytes, a page */
    bool found;  /* readers find it: by its file's name, or once it is named */
};

/*
 * Make the mapping.
 *
 * Returns 0 or -errno; *failed then names the system call at fault, and nothing
 * is left behind.
 * Rule: OTEP 4719, "Publication Protocol", steps 2 to 5.
 */
int otelctx_mapping_open(size_t size, struct otelctx_mapping *out,
                         const char **failed);

/*
 * Name the mapping: also what readers that hook prctl wait for.
 *
 * Returns 0, or -errno when readers have no way to find it. A mapping of a
 * memfd is found by the file's name where the kernel cannot name mappings, and
 * one that was named keeps its name.
 * Rule: OTEP 4719, "Publication Protocol", step 10.
 */
OTELCTX_INLINE int otelctx_mapping_name(struct otelctx_mapping *mapping)
{
    const int err =
        otelctx_sys_name(mapping->at, mapping->size, OTELCTX_MAPPING_NAME);

    if (!err)
        mapping->found = true;
    return mapping->found ? 0 : err;
}

void otelctx_mapping_close(struct otelctx_mapping *mapping);

/* Anonymous memory that fork does not pass on either, for long payloads. */
int otelctx_mapping_reserve(size_t size, uint8_t **out, const char **failed);

#endif
