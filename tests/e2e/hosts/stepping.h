/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A SIGTRAP after each instruction of this thread, as long as it is stepping;
 * and where the shim's code is. x86-64 only.
 */

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static uintptr_t shim_begin, shim_end;

static inline int stepping_note_shim(struct dl_phdr_info *object, size_t size,
                                     void *unused)
{
    (void)size;
    (void)unused;
    if (!strstr(object->dlpi_name, "libotelctx_preload"))
        return 0;
    shim_begin = object->dlpi_addr;
    shim_end = shim_begin + object->dlpi_phdr[0].p_memsz; /* text */
    return 1;
}

/* Whether the signal with this context interrupted the shim. */
static inline int stepping_in_shim(const void *context)
{
    const ucontext_t *const interrupted = (const ucontext_t *)context;
    const uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];

    return at >= shim_begin && at < shim_end;
}

static inline void stepping_begin(void)
{
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static inline void stepping_end(void)
{
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}
