/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded before the shim, for the programs of demo/apps: another SDK has the
 * slot for a moment, just when a query's record (its span id begins with 2) is
 * to go in (INTRUDER=in), or for the first time out (INTRUDER=out). It says so
 * when that record would go with the caller's stack frame.
 */

#include "shim/otelctx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_SIZE (64 << 10) /* of it, from here up */

static __thread struct otelctx_record *current, *refused;

static int is_query(const struct otelctx_record *record)
{
    return record && record->span_id[0] >> 4 == 2;
}

__attribute__((visibility("default"))) int
otelctx_swap(struct otelctx_record *record, struct otelctx_record **previous)
{
    void *const next = dlsym(RTLD_NEXT, "otelctx_swap");
    const char *const set = getenv("INTRUDER"), *const when = set ? set : "";
    int (*swap)(struct otelctx_record *, struct otelctx_record **);
    int result;

    if (strcmp(when, "in") == 0 && is_query(record))
        return -EBUSY;
    if (strcmp(when, "out") == 0 && is_query(current) && current != refused) {
        refused = current;
        if ((uintptr_t)current - (uintptr_t)&result < STACK_SIZE)
            fprintf(stderr, "the record is on the stack\n");
        return -EBUSY;
    }
    memcpy(&swap, &next, sizeof(swap));
    result = swap(record, previous);
    if (result == 0)
        current = record;
    return result;
}
