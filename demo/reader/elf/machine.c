/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/machine.h"

#include <stddef.h>

/* Offsets in static TLS are no larger. */
#define OFFSET_MAX INT64_C(0xffffffff)

/* Variant I: two words between the thread pointer and the executable's block.
 * When that has none, musl begins the first library's in their place.
 */
#define GAP_SIZE UINT64_C(16)

static const struct otelread_machine machines[] = {
    {
        .elf = EM_X86_64,
        .tlsdesc = R_X86_64_TLSDESC,
        .module = R_X86_64_DTPMOD64,
        .tp_offset = R_X86_64_TPOFF64,
    },
    {
        .elf = EM_AARCH64,
        .tlsdesc = R_AARCH64_TLSDESC,
        .module = R_AARCH64_TLS_DTPMOD,
        .tp_offset = R_AARCH64_TLS_TPREL,
        .blocks_above = true,
    },
};

const struct otelread_machine *otelread_machine(uint16_t elf)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        if (machines[i].elf == elf)
            return &machines[i];
    }
    return NULL;
}

bool otelread_machine_is_native(const struct otelread_machine *machine)
{
#if defined(__x86_64__)
    return machine->elf == EM_X86_64;
#elif defined(__aarch64__)
    return machine->elf == EM_AARCH64;
#else
    (void)machine;
    return false;
#endif
}

bool otelread_machine_offset_fits(const struct otelread_machine *machine,
                                  int64_t offset)
{
    if (machine->blocks_above)
        return offset >= 0 && offset <= OFFSET_MAX;
    return offset < 0 && offset >= -OFFSET_MAX;
}

int64_t otelread_machine_first_block(const struct otelread_machine *machine,
                                     const Elf64_Phdr *tls)
{
    /* The block is as far from a multiple of the alignment as the segment. */
    const uint64_t mask = tls->p_align > 1 ? tls->p_align - 1 : 0;

    if (machine->blocks_above)
        return (int64_t)(GAP_SIZE + ((tls->p_vaddr - GAP_SIZE) & mask));
    return -(int64_t)(tls->p_memsz + ((-tls->p_vaddr - tls->p_memsz) & mask));
}
