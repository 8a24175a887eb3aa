/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
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

/* Where a thread-local variable is, for every thread of a process. */
struct otelread_symbol {
    enum otelread_access access;
    enum otelread_libc libc;
    uint16_t machine;    /* ELF's e_machine */
    int64_t offset;      /* from the thread pointer; dynamic: in the block */
    uint64_t module;     /* dynamic: the TLS module, from 1; else 0 */
    uint64_t generation; /* dynamic: older thread vectors lack the module */
    uint64_t header;     /* address of the object that defines it */
    uint64_t value;      /* offset in that object's TLS block */
    char object[OTELREAD_PATH_SIZE]; /* its path, as in the maps */
};

/* "tlsdesc-static" and so on. */
const char *otelread_access_name(enum otelread_access access);

/* Whether offset counts from the thread pointer; module is unused then. */
bool otelread_access_is_static(enum otelread_access access);
