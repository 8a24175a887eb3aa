/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/why/symbols.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any linker makes; a broken file need not be read in full. */
#define TABLE_MAX (64U << 20)

/* The bytes of a part of the file, to be freed; NULL if it has not that many.
 */
static void *read_part(int fd, uint64_t at, uint64_t size)
{
    void *const part = size > 0 && size <= TABLE_MAX ? malloc(size) : NULL;

    if (part && pread(fd, part, size, (off_t)at) != (ssize_t)size) {
        free(part);
        return NULL;
    }
    return part;
}

static bool is_variable(const ElfW(Sym) * symbol, const char *names,
                        size_t names_size, const char *name)
{
    const size_t size = strlen(name) + 1;

    return (symbol->st_info & 0xf) == STT_TLS &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_name < names_size &&
           size <= names_size - symbol->st_name &&
           memcmp(names + symbol->st_name, name, size) == 0;
}

/* Does a table of symbols define the variable? */
static bool defines(int fd, const ElfW(Shdr) * table,
                    const ElfW(Shdr) * strings, const char *name)
{
    ElfW(Sym) *const symbols = read_part(fd, table->sh_offset, table->sh_size);
    char *const names = read_part(fd, strings->sh_offset, strings->sh_size);
    const size_t count = table->sh_size / sizeof(*symbols);
    bool found = false;

    for (size_t i = 0; symbols && names && i < count && !found; i++)
        found = is_variable(&symbols[i], names, strings->sh_size, name);
    free(symbols);
    free(names);
    return found;
}

bool otelread_symbols_hide(int fd, const char *name)
{
    bool is_defined = false, is_exported = false;
    unsigned symbols = 0, exports = 0;
    ElfW(Shdr) * sections;
    ElfW(Ehdr) start;

    if (pread(fd, &start, sizeof(start), 0) != (ssize_t)sizeof(start) ||
        start.e_shentsize != sizeof(*sections))
        return false;
    sections = read_part(fd, start.e_shoff,
                         (uint64_t)start.e_shnum * sizeof(*sections));
    for (size_t i = 0; sections && i < start.e_shnum; i++) {
        const ElfW(Shdr) *const table = &sections[i];

        if (table->sh_link >= start.e_shnum)
            continue;
        /* One of each, see gABI, "Sections": thousands would take hours. */
        if (table->sh_type == SHT_SYMTAB && symbols++ == 0)
            is_defined = defines(fd, table, &sections[table->sh_link], name);
        if (table->sh_type == SHT_DYNSYM && exports++ == 0)
            is_exported = defines(fd, table, &sections[table->sh_link], name);
    }
    free(sections);
    return is_defined && !is_exported;
}
