/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/image.h"

#include <elf.h>
#include <stdint.h>

/*
 * Looks for a definition in the dynamic symbol table, of any version.
 * Returns 0, -ENOENT, -ENOEXEC or what read returns.
 */
int otelread_elf_lookup(const struct otelread_elf *elf, const char *name,
                        Elf64_Sym *symbol);

/* Whether a symbol of the dynamic table has that name: 1, 0, -errno. */
int otelread_elf_is_named(const struct otelread_elf *elf, uint32_t index,
                          const char *name);
