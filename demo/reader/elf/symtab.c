/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/symtab.h"

#include <errno.h>
#include <string.h>

#define NAME_SIZE_MAX 64

/* One file, and the name that is looked for in it. */
struct search {
    otelread_elf_read *read;
    void *source;
    const char *name;
    Elf64_Ehdr header;
    Elf64_Shdr strings;
};

static int section_read(const struct search *search, uint32_t index,
                        Elf64_Shdr *section)
{
    if (index >= search->header.e_shnum)
        return -ENOEXEC;
    return search->read(search->source,
                        search->header.e_shoff + index * sizeof(*section),
                        section, sizeof(*section));
}

/* 1, 0 or -errno. */
static int matches(const struct search *search, const Elf64_Sym *symbol)
{
    const size_t size = strlen(search->name) + 1;
    char found[NAME_SIZE_MAX];

    if (size > sizeof(found))
        return -EINVAL;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS ||
        symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name > search->strings.sh_size ||
        size > search->strings.sh_size - symbol->st_name)
        return 0;

    const int error =
        search->read(search->source,
                     search->strings.sh_offset + symbol->st_name, found, size);
    return error != 0 ? error : memcmp(found, search->name, size) == 0;
}

static int table_search(const struct search *search, const Elf64_Shdr *table,
                        Elf64_Sym *symbol)
{
    Elf64_Sym symbols[512];
    const size_t room = sizeof(symbols) / sizeof(symbols[0]);
    uint64_t at = table->sh_offset;
    uint64_t left = table->sh_size / sizeof(symbols[0]);

    while (left > 0) {
        const size_t count = left < room ? (size_t)left : room;
        const size_t size = count * sizeof(symbols[0]);
        const int error = search->read(search->source, at, symbols, size);

        if (error != 0)
            return error;
        for (size_t i = 0; i < count; i++) {
            const int result = matches(search, &symbols[i]);

            if (result > 0)
                *symbol = symbols[i];
            if (result != 0)
                return result > 0 ? 0 : result;
        }
        at += size;
        left -= count;
    }
    return -ENOENT;
}

int otelread_symtab_lookup(otelread_elf_read *read, void *source,
                           const char *name, Elf64_Sym *symbol)
{
    struct search search = {.read = read, .source = source, .name = name};
    Elf64_Shdr section;
    int error = read(source, 0, &search.header, sizeof(search.header));

    if (error != 0)
        return error;
    if (memcmp(search.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        search.header.e_ident[EI_CLASS] != ELFCLASS64 ||
        search.header.e_ident[EI_DATA] != ELFDATA2LSB ||
        search.header.e_shentsize != sizeof(section))
        return -ENOEXEC;

    for (uint32_t i = 0; i < search.header.e_shnum; i++) {
        error = section_read(&search, i, &section);
        if (error != 0)
            return error;
        if (section.sh_type != SHT_SYMTAB)
            continue;
        error = section_read(&search, section.sh_link, &search.strings);
        return error != 0 ? error : table_search(&search, &section, symbol);
    }
    return -ENOENT;
}
