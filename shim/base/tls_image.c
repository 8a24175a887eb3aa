/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/tls_image.h"

#include <elf.h>
#include <errno.h>

#include "shim/base/order.h"
#include "shim/base/sys.h"

/* The ELF header of this object in memory; the linker defines the symbol. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static const Elf64_Phdr *segment(Elf64_Word type)
{
    const Elf64_Ehdr *const e = (const Elf64_Ehdr *)(const void *)__ehdr_start;
    const Elf64_Phdr *const p =
        (const Elf64_Phdr *)(const void *)(__ehdr_start + e->e_phoff);

    for (unsigned i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == type)
            return &p[i];
    return NULL;
}

/* Did the dynamic linker make this address read-only? It protects the whole
 * pages within PT_GNU_RELRO. */
static int is_protected(Elf64_Addr at, size_t page_size)
{
    const Elf64_Phdr *const relro = segment(PT_GNU_RELRO);

    return relro && at >= (relro->p_vaddr & ~(Elf64_Addr)(page_size - 1)) &&
           at < ((relro->p_vaddr + relro->p_memsz) &
                 ~(Elf64_Addr)(page_size - 1));
}

int otelctx_tls_image_set(uint64_t word, size_t page_size)
{
    const Elf64_Phdr *const tls = segment(PT_TLS);
    uintptr_t at, page;
    int err;

    if (!tls || tls->p_filesz != sizeof(word))
        return -ENOEXEC;
    at = (uintptr_t)__ehdr_start + tls->p_vaddr;
    if (!is_protected(tls->p_vaddr, page_size)) {
        otelctx_store((uint64_t *)at, word);
        return 0;
    }
    page = at & ~(uintptr_t)(page_size - 1);
    err = otelctx_sys_protect((void *)page, page_size, true);
    if (err)
        return err;
    otelctx_store((uint64_t *)at, word);
    (void)otelctx_sys_protect((void *)page, page_size, false);
    return 0;
}
