/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_ELF_H
#define OTELREAD_ELF_H

#include "demo/reader/machine.h"

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
 * An executable or library as it lies in the memory of a process, read from
 * there: its file may be gone, or not ours to open. The process may be
 * malicious: no address leads out of the image, and no count is believed.
 */
struct otelread_elf {
    otelread_elf_read *read; /* set by the caller, with source and header */
    void *source;
    uint64_t header; /* address of the ELF header */

    uint64_t start, end; /* the image */
    uint64_t bias;       /* address in memory - address in the file */
    const struct otelread_machine *machine;
    bool interpreted; /* a dynamic linker was asked for */
    Elf64_Phdr tls;   /* sane; p_memsz 0: there is none */
    uint64_t dynamic; /* address of the dynamic section, or 0 */
    uint64_t debug;   /* address of the dynamic linker's r_debug, or 0 */
    struct otelread_elf_table relocations[2]; /* DT_RELA, DT_JMPREL */
    struct otelread_elf_table strings;
    uint64_t symbols;
    uint64_t gnu_hash, hash;
};

/*
 * Returns 0, -ENOEXEC (no ELF image, or a broken one), -ENOTSUP (32-bit, or a
 * machine that we do not know) or what read says.
 */
int otelread_elf_open(struct otelread_elf *elf);

/* The image is to blame: it is broken, or was unloaded meanwhile. */
bool otelread_elf_is_broken(int error);

bool otelread_elf_contains(const struct otelread_elf *elf, uint64_t address,
                           uint64_t size);

/* Never out of the image: -EFAULT. */
int otelread_elf_copy(const struct otelread_elf *elf, uint64_t address,
                      void *out, size_t size);

/*
 * Looks for a definition in the dynamic symbol table, of any version.
 * Returns 0, -ENOENT, -ENOEXEC or what read says. So do the others here.
 */
int otelread_elf_lookup(const struct otelread_elf *elf, const char *name,
                        Elf64_Sym *symbol);

/* Whether a symbol of the dynamic table has that name: 1, 0, -errno. */
int otelread_elf_is_named(const struct otelread_elf *elf, uint32_t index,
                          const char *name);

/* One pass over all relocations. Set elf, the rest to zero. */
struct otelread_relocations {
    const struct otelread_elf *elf;
    unsigned table; /* the one being read */
    uint64_t at;    /* bytes of it that are done */
    size_t next, filled;
    Elf64_Rela buffer[512];
};

/* Returns 1, 0 at the end, or -errno. */
int otelread_relocations_next(struct otelread_relocations *relocations,
                              Elf64_Rela *relocation);

#endif
