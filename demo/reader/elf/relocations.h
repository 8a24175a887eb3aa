/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/image.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

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
