/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_OBJECTS_H
#define OTELREAD_OBJECTS_H

#include "demo/reader/elf.h"
#include "demo/reader/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The executable or a library. */
struct otelread_object {
    struct otelread_elf elf;
    char *path; /* as in the maps */
    bool executable;
    bool defines;   /* the symbol in question, */
    uint64_t value; /* so far behind the start of its TLS segment */
};

/* Those of a process. Must not move: each elf reads through it. */
struct otelread_objects {
    struct otelread_object *list;
    size_t count;
    bool foreign; /* some were left out: 32-bit, or of another machine */
    struct otelread_target *target;
    uint64_t left; /* bytes that we are willing to read */
};

/*
 * Finds what is loaded, in the dynamic linker's order. Where its lists cannot
 * be read: what is mapped as images are, and files that are mapped to be read
 * may be among that. Returns 0, -ENOMEM, -E2BIG (it would never end) or -errno
 * of the process's files; then there is nothing to free.
 * Rule: OTEP 4947, "Reading Protocol", step 1.2.
 */
int otelread_objects_load(struct otelread_objects *objects,
                          struct otelread_target *target);

void otelread_objects_free(struct otelread_objects *objects);

/*
 * Finds out which of them define a TLS variable of 8 bytes. That of a static
 * executable may be in the file's symbol table only, which is not in memory.
 * Returns 0, -ENOENT or -errno.
 */
int otelread_objects_define(struct otelread_objects *objects, const char *name);

#endif
