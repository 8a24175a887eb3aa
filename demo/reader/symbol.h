/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_SYMBOL_H
#define OTELREAD_SYMBOL_H

#include "demo/reader/target.h"

#include <stddef.h>
#include <stdint.h>

/* How the code that uses the variable comes to its address. */
enum otelread_access {
    OTELREAD_TLSDESC_STATIC,
    OTELREAD_TLSDESC_DYNAMIC,
    OTELREAD_GENERAL_DYNAMIC,
    OTELREAD_INITIAL_EXEC,
    OTELREAD_LOCAL_EXEC,
};

enum otelread_libc {
    OTELREAD_LIBC_OTHER, /* or a static executable */
    OTELREAD_GLIBC,
    OTELREAD_MUSL,
};

/* The linker's limit for a path, in bytes. */
#define OTELREAD_PATH_SIZE 4096

/* Where OTELCTX_THREAD_SYMBOL is, for every thread of a process. */
struct otelread_symbol {
    enum otelread_access access;
    enum otelread_libc libc;
    uint16_t machine;    /* ELF's e_machine */
    int64_t offset;      /* from the thread pointer; dynamic: in the block */
    uint64_t module;     /* dynamic: the TLS module, from 1; else 0 */
    uint64_t generation; /* dynamic: tables that are older lack the module */
    char object[OTELREAD_PATH_SIZE]; /* what defines it, as in the maps */
};

/*
 * Finds the variable in a process whose threads may be running.
 * Returns 0, -ENOENT (no object defines it), -EAGAIN (defined, but not bound
 * yet: nobody has used it, so nothing is attached), -ENOTSUP, -E2BIG (finding
 * it would never end), -ENOMEM, or -errno of the process's files; when it
 * fails, why says it in words.
 * Rule: OTEP 4947, "Reading Protocol", step 1.2.
 */
int otelread_symbol_find(struct otelread_target *target,
                         struct otelread_symbol *symbol, char *why,
                         size_t why_size);

/*
 * The variable's address in the thread with that thread pointer (fs_base,
 * TPIDR_EL0), which should be stopped.
 * Returns 0, -ENODATA (the thread never touched it, so it has no such variable
 * and nothing is attached), -ENOTSUP, or what otelread_target_read() says.
 */
int otelread_symbol_address(struct otelread_target *target,
                            const struct otelread_symbol *symbol,
                            uint64_t thread_pointer, uint64_t *address);

/* "tlsdesc-static" and so on. */
const char *otelread_access_name(enum otelread_access access);

/* Whether offset counts from the thread pointer; module means nothing then. */
bool otelread_access_is_static(enum otelread_access access);

#endif
