/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/clock.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <time.h>

#include "shim/base/host.h"
#include "shim/base/order.h"
#include "shim/base/sys.h"

#if defined(__x86_64__)
#define VDSO_CLOCK "__vdso_clock_gettime"
#else
#define VDSO_CLOCK "__kernel_clock_gettime"
#endif

typedef int (*clock_function)(clockid_t, struct timespec *);

/* The vDSO's symbols, as its dynamic section gives them. */
struct vdso {
    const char *base; /* add it to an address in the file */
    const ElfW(Sym) * symbols;
    const char *names;
    uint32_t count;
};

static const ElfW(Phdr) * segment(const ElfW(Ehdr) * elf, uint32_t type)
{
    const ElfW(Phdr) *p = (const void *)((const char *)elf + elf->e_phoff);

    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (p[i].p_type == type)
            return &p[i];
    return NULL;
}

/* The number of symbols in a DT_GNU_HASH table, which does not store it: the
 * last symbol ends the chain that starts at the highest index in a bucket. */
static uint32_t count_gnu_symbols(const uint32_t *hash)
{
    const uint32_t buckets = hash[0], first = hash[1], bloom_words = hash[2];
    const uint32_t *bucket = hash + 4 + (size_t)bloom_words * 2;
    const uint32_t *chain = bucket + buckets;
    uint32_t last = first;

    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last)
            last = bucket[i];
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

static void read_dynamic(const ElfW(Dyn) * d, struct vdso *out)
{
    for (; d->d_tag != DT_NULL; d++) {
        const void *at = out->base + d->d_un.d_ptr;

        if (d->d_tag == DT_SYMTAB)
            out->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            out->names = at;
        else if (d->d_tag == DT_HASH)
            out->count = ((const uint32_t *)at)[1];
        else if (d->d_tag == DT_GNU_HASH && out->count == 0)
            out->count = count_gnu_symbols(at);
    }
}

/* The vDSO's ELF header, or NULL: a process may have unmapped the vDSO. */
static const ElfW(Ehdr) * find_vdso(void)
{
    const ElfW(Ehdr) *elf =
        (const void *)otelctx_host_auxiliary(AT_SYSINFO_EHDR);

    return otelctx_sys_readable(elf) &&
                   memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0
               ? elf
               : NULL;
}

static uintptr_t find_clock(void)
{
    const ElfW(Ehdr) *elf = otelctx_sys_tsc_faults() ? NULL : find_vdso();
    const ElfW(Phdr) *load = elf ? segment(elf, PT_LOAD) : NULL;
    const ElfW(Phdr) *dynamic = elf ? segment(elf, PT_DYNAMIC) : NULL;
    struct vdso vdso = {0};

    if (!load || !dynamic)
        return 0;
    vdso.base = (const char *)elf + load->p_offset - load->p_vaddr;
    read_dynamic((const void *)(vdso.base + dynamic->p_vaddr), &vdso);
    if (!vdso.symbols || !vdso.names)
        return 0;

    for (uint32_t i = 0; i < vdso.count; i++) {
        const ElfW(Sym) *s = &vdso.symbols[i];

        if (s->st_shndx != SHN_UNDEF &&
            otelctx_span_equal(otelctx_span_from(vdso.names + s->st_name),
                               OTELCTX_SPAN(VDSO_CLOCK)))
            return (uintptr_t)vdso.base + s->st_value;
    }
    return 0;
}

uint64_t otelctx_clock_read(void)
{
    uint64_t now_ns = 0;

    (void)otelctx_sys_boottime(&now_ns);
    return now_ns;
}

/* Values of *vdso that are not the address of a function. */
enum {
    VDSO_NOT_FOUND_YET,
    VDSO_UNUSABLE
};

OTELCTX_RARE void otelctx_clock_find_vdso(uint64_t *vdso)
{
    const uintptr_t at = find_clock();

    *vdso = at ? at : VDSO_UNUSABLE;
}

static bool vdso_disabled;

void otelctx_clock_disable_vdso(void)
{
    vdso_disabled = true;
}

uint64_t otelctx_clock_read_fast(uint64_t *vdso)
{
    struct timespec now;

    if (*vdso == VDSO_NOT_FOUND_YET)
        otelctx_clock_find_vdso(vdso);
    if (vdso_disabled || *vdso == VDSO_UNUSABLE ||
        ((clock_function)*vdso)(CLOCK_BOOTTIME, &now))
        return otelctx_clock_read();
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
