/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/machine.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies exactly size bytes from somebody's memory. Returns 0 or -errno. */
typedef int otelread_elf_read(void *source, uint64_t address, void *out,
                              size_t size);

/* A table of the dynamic section, in memory. */
struct otelread_elf_table {
    uint64_t address; /* 0: there is none */
    uint64_t size;    /* bytes */
};

/*
 * An executable or library in the memory of a process. It is read from memory,
 * because its file may be deleted or inaccessible. The process may be
 * malicious: no read leaves the image, and every count has a limit.
 */
struct otelread_elf {
    otelread_elf_read *read; /* set by the caller, with source and header */
    void *source;
    uint64_t header; /* address of the ELF header */

    uint64_t start, end; /* the image */
    uint64_t bias;       /* address in memory - address in the file */
    const struct otelread_machine *machine;
    bool interpreted; /* it has PT_INTERP: a dynamic linker loads it */
    Elf64_Phdr tls;   /* checked; p_memsz 0: there is none */
    uint64_t dynamic; /* address of the dynamic section, or 0 */
    uint64_t debug;   /* address of the dynamic linker's r_debug, or 0 */
    struct otelread_elf_table relocations[2]; /* DT_RELA, DT_JMPREL */
    struct otelread_elf_table strings;
    uint64_t symbols;
    uint64_t gnu_hash, hash;
};

/*
 * Returns 0, -ENOEXEC (no ELF image, or a broken one), -ENOTSUP (32-bit, or an
 * unknown machine) or what read returns.
 */
int otelread_elf_open(struct otelread_elf *elf);

/* Whether the error means a broken image, or one that was just unloaded. */
bool otelread_elf_is_broken(int error);

bool otelread_elf_contains(const struct otelread_elf *elf, uint64_t address,
                           uint64_t size);

/*
 * Copies from the image. Returns 0, -EFAULT (outside of it) or what read
 * returns.
 */
int otelread_elf_copy(const struct otelread_elf *elf, uint64_t address,
                      void *out, size_t size);
