/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the headers of an ELF file say. */
struct otelrun_elf {
    bool is_dynamic;       /* it has a dynamic section */
    uint8_t class;         /* ELFCLASS64 ... */
    uint8_t order;         /* ELFDATA2LSB ... */
    uint16_t type;         /* ET_DYN ... */
    uint16_t machine;      /* EM_X86_64 ... */
    char interpreter[256]; /* the dynamic linker; "" for a static program */
    char asan[32];         /* GCC's address sanitizer, if it needs that */
};

/*
 * Reads the headers of an open file. Of a file of the other class or byte order
 * only class, order and machine are known.
 *
 * Returns 0, -ENOEXEC (no ELF file, or a broken one) or another -errno.
 */
int otelrun_elf_read(int fd, struct otelrun_elf *out);

/* "x86-64", "aarch64, 64-bit" ...; never NULL. */
const char *otelrun_elf_machine(const struct otelrun_elf *elf);

/* Can one process have both? */
bool otelrun_elf_match(const struct otelrun_elf *a,
                       const struct otelrun_elf *b);

/* The libc that a dynamic linker belongs to, by its name. */
const char *otelrun_elf_libc(const struct otelrun_elf *elf);
