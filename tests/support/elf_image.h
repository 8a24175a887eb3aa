/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A small ELF image whose addresses in the file are the offsets in this
 * struct. Symbols are in one hash chain.
 */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[4]; /* LOAD, DYNAMIC, TLS, unused */
    Elf64_Dyn dynamic[12];
    Elf64_Sym symbols[8];
    char strings[256];
    struct {
        uint32_t buckets, first, bloom_words, bloom_shift;
        uint64_t bloom[1];
        uint32_t bucket[1], chain[8];
    } gnu;
    struct {
        uint32_t buckets, chains;
        uint32_t bucket[1], chain[8];
    } sysv;
    Elf64_Rela relocations[8];
    Elf64_Rela plt[8];
    uint64_t words[16]; /* targets of relocations */
    uint32_t symbol_count;
    uint32_t string_size;
    uint32_t relocation_count, plt_count;
};

#define IMAGE_TLS_SIZE 64

static inline void image_segment(struct image *image, size_t index,
                                 uint32_t type, size_t at, size_t size)
{
    image->segments[index] = (Elf64_Phdr){
        .p_type = type,
        .p_offset = at,
        .p_vaddr = at,
        .p_memsz = size,
        .p_align = 8,
    };
}

static inline void image_dynamic(struct image *image, int64_t tag,
                                 uint64_t value)
{
    Elf64_Dyn *entry = image->dynamic;

    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    entry->d_tag = tag;
    entry->d_un.d_val = value;
}

static inline void image_make(struct image *image, uint16_t machine)
{
    static const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                    EV_CURRENT},
        .e_type = ET_DYN,
        .e_version = EV_CURRENT,
        .e_phoff = offsetof(struct image, segments),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 4,
    };

    memset(image, 0, sizeof(*image));
    image->header = header;
    image->header.e_machine = machine;
    image_segment(image, 0, PT_LOAD, 0, sizeof(*image));
    image_segment(image, 1, PT_DYNAMIC, offsetof(struct image, dynamic),
                  sizeof(image->dynamic));
    image_segment(image, 2, PT_TLS, 0, IMAGE_TLS_SIZE);
    image_dynamic(image, DT_SYMTAB, offsetof(struct image, symbols));
    image_dynamic(image, DT_STRTAB, offsetof(struct image, strings));
    image_dynamic(image, DT_STRSZ, sizeof(image->strings));
    image_dynamic(image, DT_RELA, offsetof(struct image, relocations));
    image_dynamic(image, DT_JMPREL, offsetof(struct image, plt));
    image_dynamic(image, DT_GNU_HASH, offsetof(struct image, gnu));
    image_dynamic(image, DT_HASH, offsetof(struct image, sysv));
    image->gnu.buckets = 1;
    image->gnu.first = 1;
    image->gnu.bloom_words = 1;
    image->sysv.buckets = 1;
    image->symbol_count = 1;
    image->string_size = 1;
}

/* Leaves one of DT_HASH and DT_GNU_HASH only. */
static inline void image_only_hash(struct image *image, int64_t tag)
{
    image_dynamic(image, tag == DT_HASH ? DT_GNU_HASH : DT_HASH, 0);
}

static inline uint32_t image_gnu_hash(const char *name)
{
    uint32_t hash = 5381;

    while (*name)
        hash = (hash << 5) + hash + (uint8_t)*name++;
    return hash;
}

/* Returns the symbol's index. An undefined symbol has section SHN_UNDEF. */
static inline uint32_t image_symbol(struct image *image, const char *name,
                                    unsigned char info, uint16_t section,
                                    uint64_t value)
{
    const uint32_t index = image->symbol_count++;

    image->symbols[index] = (Elf64_Sym){
        .st_name = image->string_size,
        .st_info = info,
        .st_shndx = section,
        .st_value = value,
        .st_size = 8,
    };
    memcpy(image->strings + image->string_size, name, strlen(name) + 1);
    image->string_size += (uint32_t)strlen(name) + 1;

    image->gnu.bucket[0] = 1;
    image->gnu.chain[index - 1] = image_gnu_hash(name) | 1;
    if (index > 1)
        image->gnu.chain[index - 2] &= ~1U;
    image->sysv.bucket[0] = 1;
    if (index > 1)
        image->sysv.chain[index - 1] = index;
    return index;
}

/* A TLS variable that the image defines. */
static inline uint32_t image_variable(struct image *image, const char *name,
                                      uint64_t value)
{
    return image_symbol(image, name, ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 1,
                        value);
}

static inline Elf64_Rela image_rela(uint32_t type, uint32_t symbol, size_t word)
{
    return (Elf64_Rela){
        .r_offset = offsetof(struct image, words) + word * sizeof(uint64_t),
        .r_info = ELF64_R_INFO((uint64_t)symbol, type),
    };
}

/* Adds a relocation of a word to DT_RELA. Tests may change the entry. */
static inline Elf64_Rela *image_relocation(struct image *image, uint32_t type,
                                           uint32_t symbol, size_t word)
{
    Elf64_Rela *const entry = &image->relocations[image->relocation_count++];

    *entry = image_rela(type, symbol, word);
    image_dynamic(image, DT_RELASZ, image->relocation_count * sizeof(*entry));
    return entry;
}

/* The same in DT_JMPREL. */
static inline Elf64_Rela *image_plt(struct image *image, uint32_t type,
                                    uint32_t symbol, size_t word)
{
    Elf64_Rela *const entry = &image->plt[image->plt_count++];

    *entry = image_rela(type, symbol, word);
    image_dynamic(image, DT_PLTRELSZ, image->plt_count * sizeof(*entry));
    return entry;
}

/* The mappings of a process that does not exist. */
struct region {
    uint64_t address;
    const void *bytes;
    size_t size;
};

struct memory {
    struct region regions[8];
    size_t count;
};

static inline void memory_map(struct memory *memory, uint64_t address,
                              const void *bytes, size_t size)
{
    memory->regions[memory->count++] = (struct region){address, bytes, size};
}

static inline int memory_read(void *source, uint64_t address, void *out,
                              size_t size)
{
    const struct memory *const memory = source;

    for (size_t i = 0; i < memory->count; i++) {
        const struct region *const region = &memory->regions[i];

        if (address < region->address ||
            address - region->address > region->size ||
            size > region->size - (address - region->address))
            continue;
        memcpy(out, (const char *)region->bytes + (address - region->address),
               size);
        return 0;
    }
    return -EFAULT;
}
