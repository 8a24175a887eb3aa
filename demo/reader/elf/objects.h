/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/object.h"
#include "demo/reader/os/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The objects of a process. Must not move: each elf points to it. */
struct otelread_objects {
    struct otelread_object *list;
    size_t count;
    bool foreign; /* objects of another machine, or 32-bit, were left out */
    struct otelread_target *target;
    uint64_t left; /* how many bytes may still be read */
};

/*
 * Finds the loaded objects, in the dynamic linker's order. When the linker's
 * lists cannot be read: every file that is mapped like an image, some of which
 * may be mapped only as data. Returns 0, -ENOMEM, -E2BIG (too much to read) or
 * -errno of the process's files; on failure there is nothing to free.
 * Rule: OTEP 4947, "Reading Protocol", step 1.2.
 */
int otelread_objects_load(struct otelread_objects *objects,
                          struct otelread_target *target);

void otelread_objects_free(struct otelread_objects *objects);

/*
 * Marks the objects that define a TLS variable of that size and name. A
 * static executable may have it in its file's symbol table only, which is not
 * loaded into memory.
 * Returns 0, -ENOENT or -errno.
 */
int otelread_objects_find_definitions(struct otelread_objects *objects,
                                      const char *name, uint64_t size);
