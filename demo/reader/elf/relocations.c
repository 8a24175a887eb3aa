/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/relocations.h"

#include <stddef.h>

#define TABLES                                                                 \
    (sizeof(((struct otelread_elf *)NULL)->relocations) /                      \
     sizeof(struct otelread_elf_table))

/* The next piece of the tables. */
static int refill(struct otelread_relocations *relocations)
{
    const struct otelread_elf *const elf = relocations->elf;
    const size_t entry_size = sizeof(relocations->buffer[0]);

    for (; relocations->table < TABLES; relocations->table++) {
        const struct otelread_elf_table *const table =
            &elf->relocations[relocations->table];
        const uint64_t left = (table->size - relocations->at) / entry_size;

        if (table->address == 0 || left == 0) {
            relocations->at = 0;
            continue;
        }

        const size_t room =
            sizeof(relocations->buffer) / sizeof(relocations->buffer[0]);
        const size_t count = left < room ? (size_t)left : room;
        const int error =
            otelread_elf_copy(elf, table->address + relocations->at,
                              relocations->buffer, count * entry_size);
        if (error != 0)
            return error;
        relocations->at += count * entry_size;
        relocations->next = 0;
        relocations->filled = count;
        return 1;
    }
    return 0;
}

int otelread_relocations_next(struct otelread_relocations *relocations,
                              Elf64_Rela *relocation)
{
    if (relocations->next == relocations->filled) {
        const int result = refill(relocations);

        if (result <= 0)
            return result;
    }
    *relocation = relocations->buffer[relocations->next++];
    return 1;
}
