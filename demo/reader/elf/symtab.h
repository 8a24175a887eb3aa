/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/reader/elf/image.h"

/*
 * Looks for a TLS variable in the symbol table of an ELF file that was not
 * stripped. read is called with offsets in the file as addresses.
 * Returns 0, -ENOENT, -ENOEXEC or what read says.
 */
int otelread_symtab_lookup(otelread_elf_read *read, void *source,
                           const char *name, Elf64_Sym *symbol);
