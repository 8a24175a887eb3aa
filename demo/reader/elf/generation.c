/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/generation.h"

#include "demo/reader/elf/dynsym.h"

#include <errno.h>

/* Each has room for dozens of modules: longer chains are taken for garbage. */
#define LISTS_MAX 16384

/* How glibc describes itself for debuggers, nptl_db/thread_dbP.h: DB_STRUCT. */
struct field {
    uint32_t bits;
    uint32_t count;
    uint32_t offset;
};

enum {
    LISTS, /* in _rtld_global: the first list */
    LENGTH,
    NEXT,
    SLOTS,
    GENERATION, /* in a slot */
    FIELDS,
};

static const char *const field_names[FIELDS] = {
    [LISTS] = "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list",
    [LENGTH] = "_thread_db_dtv_slotinfo_list_len",
    [NEXT] = "_thread_db_dtv_slotinfo_list_next",
    [SLOTS] = "_thread_db_dtv_slotinfo_list_slotinfo",
    [GENERATION] = "_thread_db_dtv_slotinfo_gen",
};

struct layout {
    const struct otelread_elf *elf; /* any one: has the read function */
    uint64_t global;                /* address of _rtld_global */
    struct field fields[FIELDS];
    uint32_t slot_size;
};

/* The first object that defines it. */
static const struct otelread_elf *
defining(const struct otelread_object *objects, size_t count, const char *name,
         uint64_t *address)
{
    for (size_t i = 0; i < count; i++) {
        const struct otelread_elf *const elf = &objects[i].elf;
        Elf64_Sym symbol;

        if (otelread_elf_lookup(elf, name, &symbol) != 0)
            continue;
        *address = elf->bias + symbol.st_value;
        return elf;
    }
    return NULL;
}

static int constant_read(const struct otelread_object *objects, size_t count,
                         const char *name, void *out, size_t size)
{
    uint64_t address;
    const struct otelread_elf *const elf =
        defining(objects, count, name, &address);

    return elf ? otelread_elf_copy(elf, address, out, size) : -ENOENT;
}

static int layout_read(struct layout *layout,
                       const struct otelread_object *objects, size_t count)
{
    int error = constant_read(objects, count, "_thread_db_sizeof_dtv_slotinfo",
                              &layout->slot_size, sizeof(layout->slot_size));

    layout->elf = defining(objects, count, "_rtld_global", &layout->global);
    if (!layout->elf)
        return -ENOENT;
    for (size_t i = 0; error == 0 && i < FIELDS; i++)
        error = constant_read(objects, count, field_names[i],
                              &layout->fields[i], sizeof(layout->fields[i]));
    return error;
}

/* 0 also when it cannot be read. */
static uint64_t word_read(const struct layout *layout, uint64_t start,
                          unsigned field)
{
    uint64_t word;

    if (layout->elf->read(layout->elf->source,
                          start + layout->fields[field].offset, &word,
                          sizeof(word)) != 0)
        return 0;
    return word;
}

uint64_t otelread_generation(const struct otelread_object *objects,
                             size_t count, uint64_t module)
{
    struct layout layout;

    if (layout_read(&layout, objects, count) != 0)
        return 0;

    uint64_t list = word_read(&layout, layout.global, LISTS);
    for (unsigned i = 0; list != 0 && i < LISTS_MAX; i++) {
        const uint64_t length = word_read(&layout, list, LENGTH);
        const uint64_t slot =
            list + layout.fields[SLOTS].offset + module * layout.slot_size;

        if (module < length)
            return word_read(&layout, slot, GENERATION);
        module -= length;
        list = word_read(&layout, list, NEXT);
    }
    return 0;
}
