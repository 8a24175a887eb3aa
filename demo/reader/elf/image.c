/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/image.h"

#include <errno.h>
#include <string.h>

/* Limits against garbage: real files have about ten and thirty of them. */
#define SEGMENTS_MAX 128
#define DYNAMIC_MAX  256

/* The first segment begins in the file's first page, of at most 64 KiB. */
#define PAGE_SIZE_MAX UINT64_C(0x10000)

/* Limit for size and alignment of TLS. */
#define TLS_MAX (UINT64_C(1) << 32)

bool otelread_elf_is_broken(int error)
{
    return error == -EFAULT || error == -ENOEXEC;
}

bool otelread_elf_contains(const struct otelread_elf *elf, uint64_t address,
                           uint64_t size)
{
    return address >= elf->start && address <= elf->end &&
           size <= elf->end - address;
}

int otelread_elf_copy(const struct otelread_elf *elf, uint64_t address,
                      void *out, size_t size)
{
    if (!otelread_elf_contains(elf, address, size))
        return -EFAULT;
    return elf->read(elf->source, address, out, size);
}

static int header_check(const Elf64_Ehdr *header)
{
    const unsigned char *const ident = header->e_ident;

    if (memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        (header->e_type != ET_EXEC && header->e_type != ET_DYN))
        return -ENOEXEC;
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
        !otelread_machine(header->e_machine))
        return -ENOTSUP;
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
        header->e_phnum > SEGMENTS_MAX)
        return -ENOEXEC;
    return 0;
}

/* The image is where the segment with the file's first byte was loaded. */
static int image_place(struct otelread_elf *elf, const Elf64_Phdr *segments,
                       size_t count)
{
    const Elf64_Phdr *first = NULL;
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;

    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *const segment = &segments[i];
        uint64_t end;

        if (segment->p_type != PT_LOAD)
            continue;
        if (__builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end))
            return -ENOEXEC;
        if (!first || segment->p_offset < first->p_offset)
            first = segment;
        low = segment->p_vaddr < low ? segment->p_vaddr : low;
        high = end > high ? end : high;
    }
    if (!first || first->p_offset >= PAGE_SIZE_MAX)
        return -ENOEXEC;

    elf->bias = elf->header + first->p_offset - first->p_vaddr;
    elf->start = elf->bias + low;
    if (elf->start > elf->header) /* the whole first page is mapped */
        elf->start = elf->header;
    elf->end = elf->bias + high;
    return elf->end > elf->header ? 0 : -ENOEXEC;
}

/* Some dynamic linkers replace the offsets by addresses; some do not. */
static uint64_t locate(const struct otelread_elf *elf, uint64_t value)
{
    if (value == 0 || otelread_elf_contains(elf, value, 1))
        return value;
    return otelread_elf_contains(elf, elf->bias + value, 1) ? elf->bias + value
                                                            : 0;
}

static void dynamic_take(struct otelread_elf *elf, const Elf64_Dyn *entry)
{
    const uint64_t value = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_DEBUG:
        elf->debug = value;
        break;
    case DT_RELA:
        elf->relocations[0].address = locate(elf, value);
        break;
    case DT_RELASZ:
        elf->relocations[0].size = value;
        break;
    case DT_JMPREL:
        elf->relocations[1].address = locate(elf, value);
        break;
    case DT_PLTRELSZ:
        elf->relocations[1].size = value;
        break;
    case DT_STRTAB:
        elf->strings.address = locate(elf, value);
        break;
    case DT_STRSZ:
        elf->strings.size = value;
        break;
    case DT_SYMTAB:
        elf->symbols = locate(elf, value);
        break;
    case DT_GNU_HASH:
        elf->gnu_hash = locate(elf, value);
        break;
    case DT_HASH:
        elf->hash = locate(elf, value);
        break;
    default:
        break;
    }
}

static int dynamic_read(struct otelread_elf *elf, const Elf64_Phdr *segment)
{
    Elf64_Dyn entries[DYNAMIC_MAX];
    size_t count = (size_t)segment->p_memsz / sizeof(entries[0]);

    if (segment->p_memsz > sizeof(entries))
        count = DYNAMIC_MAX;
    elf->dynamic = elf->bias + segment->p_vaddr;

    const int error = otelread_elf_copy(elf, elf->dynamic, entries,
                                        count * sizeof(entries[0]));
    if (error != 0)
        return error;
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
        dynamic_take(elf, &entries[i]);
    return 0;
}

static int tls_take(struct otelread_elf *elf, const Elf64_Phdr *segment)
{
    const uint64_t align = segment->p_align;

    if (segment->p_memsz > TLS_MAX || align > TLS_MAX ||
        (align & (align - 1)) != 0)
        return -ENOEXEC;
    elf->tls = *segment;
    return 0;
}

static int segments_take(struct otelread_elf *elf, const Elf64_Phdr *segments,
                         size_t count)
{
    int error = image_place(elf, segments, count);

    for (size_t i = 0; error == 0 && i < count; i++) {
        if (segments[i].p_type == PT_INTERP)
            elf->interpreted = true;
        else if (segments[i].p_type == PT_TLS)
            error = tls_take(elf, &segments[i]);
        else if (segments[i].p_type == PT_DYNAMIC)
            error = dynamic_read(elf, &segments[i]);
    }
    return error;
}

int otelread_elf_open(struct otelread_elf *elf)
{
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS_MAX];
    int error = elf->read(elf->source, elf->header, &header, sizeof(header));

    if (error == 0)
        error = header_check(&header);
    if (error == 0)
        error = elf->read(elf->source, elf->header + header.e_phoff, segments,
                          header.e_phnum * sizeof(segments[0]));
    if (error != 0)
        return error;
    elf->machine = otelread_machine(header.e_machine);
    return segments_take(elf, segments, header.e_phnum);
}
