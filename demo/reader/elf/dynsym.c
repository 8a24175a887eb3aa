/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/dynsym.h"

#include <errno.h>
#include <string.h>

/* Limit against garbage: hash chains of real tables have a few links. */
#define CHAIN_MAX 65536

#define NAME_SIZE_MAX 64

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;

    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* System V ABI, "Hash Table". */
static uint32_t sysv_hash(const char *name)
{
    uint32_t hash = 0;

    for (; *name != '\0'; name++) {
        hash = (hash << 4) + (uint8_t)*name;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    return hash;
}

static int symbol_read(const struct otelread_elf *elf, uint32_t index,
                       Elf64_Sym *symbol)
{
    if (elf->symbols == 0)
        return -ENOEXEC;
    return otelread_elf_copy(elf,
                             elf->symbols + (uint64_t)index * sizeof(*symbol),
                             symbol, sizeof(*symbol));
}

static int name_compare(const struct otelread_elf *elf, uint32_t offset,
                        const char *name)
{
    const size_t size = strlen(name) + 1;
    char found[NAME_SIZE_MAX];

    if (size > sizeof(found))
        return -EINVAL;
    if (elf->strings.address == 0 || offset > elf->strings.size ||
        size > elf->strings.size - offset)
        return 0;

    const int error =
        otelread_elf_copy(elf, elf->strings.address + offset, found, size);
    return error != 0 ? error : memcmp(found, name, size) == 0;
}

int otelread_elf_is_named(const struct otelread_elf *elf, uint32_t index,
                          const char *name)
{
    Elf64_Sym symbol;
    const int error = symbol_read(elf, index, &symbol);

    return error != 0 ? error : name_compare(elf, symbol.st_name, name);
}

/* Whether it is a definition of that name: 1, 0, -errno. */
static int defines(const struct otelread_elf *elf, uint32_t index,
                   const char *name, Elf64_Sym *symbol)
{
    const int error = symbol_read(elf, index, symbol);

    if (error != 0)
        return error;
    if (symbol->st_shndx == SHN_UNDEF ||
        ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
        return 0;
    return name_compare(elf, symbol->st_name, name);
}

static int word_read(const struct otelread_elf *elf, uint64_t table,
                     uint64_t index, uint32_t *word)
{
    return otelread_elf_copy(elf, table + index * sizeof(*word), word,
                             sizeof(*word));
}

/* The chains hold hashes, the lowest bit of which ends a chain. */
static int gnu_walk(const struct otelread_elf *elf, const char *name,
                    uint64_t chains, uint32_t index, Elf64_Sym *symbol)
{
    const uint32_t hash = gnu_hash(name);

    for (uint32_t i = 0; i < CHAIN_MAX; i++) {
        uint32_t link;
        int result = word_read(elf, chains, (uint64_t)index + i, &link);

        if (result == 0 && (link | 1) == (hash | 1))
            result = defines(elf, index + i, name, symbol);
        if (result != 0)
            return result > 0 ? 0 : result;
        if ((link & 1) != 0)
            return -ENOENT;
    }
    return -ENOEXEC;
}

static int gnu_lookup(const struct otelread_elf *elf, const char *name,
                      Elf64_Sym *symbol)
{
    struct {
        uint32_t buckets;
        uint32_t first; /* symbol that the chains begin with */
        uint32_t bloom_words;
        uint32_t bloom_shift;
    } head;
    uint32_t index;
    int error = otelread_elf_copy(elf, elf->gnu_hash, &head, sizeof(head));

    if (error != 0)
        return error;
    if (head.buckets == 0)
        return -ENOENT;

    const uint64_t buckets =
        elf->gnu_hash + sizeof(head) + head.bloom_words * UINT64_C(8);
    const uint64_t chains = buckets + head.buckets * UINT64_C(4);
    error = word_read(elf, buckets, gnu_hash(name) % head.buckets, &index);
    if (error != 0)
        return error;
    if (index < head.first || index == STN_UNDEF)
        return -ENOENT;
    return gnu_walk(elf, name, chains - head.first * UINT64_C(4), index,
                    symbol);
}

static int sysv_lookup(const struct otelread_elf *elf, const char *name,
                       Elf64_Sym *symbol)
{
    struct {
        uint32_t buckets;
        uint32_t chains;
    } head;
    uint32_t index;
    int error = otelread_elf_copy(elf, elf->hash, &head, sizeof(head));

    if (error != 0)
        return error;
    if (head.buckets == 0)
        return -ENOENT;

    const uint64_t buckets = elf->hash + sizeof(head);
    const uint64_t chains = buckets + head.buckets * UINT64_C(4);
    error = word_read(elf, buckets, sysv_hash(name) % head.buckets, &index);
    for (uint32_t i = 0; error == 0 && i < CHAIN_MAX; i++) {
        if (index == STN_UNDEF)
            return -ENOENT;
        const int result = defines(elf, index, name, symbol);
        if (result != 0)
            return result > 0 ? 0 : result;
        error = word_read(elf, chains, index, &index);
    }
    return error != 0 ? error : -ENOEXEC;
}

int otelread_elf_lookup(const struct otelread_elf *elf, const char *name,
                        Elf64_Sym *symbol)
{
    if (elf->gnu_hash != 0)
        return gnu_lookup(elf, name, symbol);
    if (elf->hash != 0)
        return sysv_lookup(elf, name, symbol);
    return -ENOENT;
}
