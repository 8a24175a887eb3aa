/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* What differs between the processors. */
struct otelread_machine {
    uint16_t elf;       /* e_machine */
    uint32_t tlsdesc;   /* relocation of a descriptor: function, argument */
    uint32_t module;    /* of a module's number; the offset is behind it */
    uint32_t tp_offset; /* of an offset from the thread pointer */
    bool blocks_above;  /* static TLS is above the thread pointer, not below */
};

/* NULL: unknown. */
const struct otelread_machine *otelread_machine(uint16_t elf);

/* Whether it is the processor of this program. */
bool otelread_machine_is_native(const struct otelread_machine *machine);

/* Whether a variable in static TLS can be there, from the thread pointer. */
bool otelread_machine_offset_fits(const struct otelread_machine *machine,
                                  int64_t offset);

/*
 * Offset of the executable's TLS block from the thread pointer, as the linker
 * computes it. The segment's alignment must be a power of two, and its size
 * within the limit of otelread_elf_open().
 * Rule: Drepper, "ELF Handling For Thread-Local Storage", variants I and II.
 */
int64_t otelread_machine_first_block(const struct otelread_machine *machine,
                                     const Elf64_Phdr *tls);
