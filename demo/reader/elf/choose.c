/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/choose.h"

#include "demo/reader/elf/dynsym.h"
#include "demo/reader/elf/generation.h"
#include "demo/reader/elf/relocations.h"
#include "demo/reader/elf/scope.h"

#include <errno.h>
#include <stdio.h>

/* A higher number of a TLS module is taken for garbage. */
#define MODULES_MAX (UINT64_C(1) << 20)

struct search {
    const struct otelread_object *objects;
    size_t count;
    const char *name;
    const struct otelread_object *definition; /* that the process uses */
    const struct otelread_elf *linker;        /* the dynamic one, or NULL */
    struct otelread_symbol *symbol;
    bool unbound; /* a reference exists that is not bound yet */
};

/*
 * A relocation that tells where the variable is: one that names it, or one
 * without a name by which the defining object refers to its own TLS block.
 */
struct reference {
    const struct otelread_elf *elf;
    Elf64_Rela relocation;
    bool named;
    uint64_t delta; /* from what the relocation refers to, to the variable */
};

static bool has(const struct otelread_elf *elf, const char *name)
{
    Elf64_Sym symbol;

    return otelread_elf_lookup(elf, name, &symbol) == 0;
}

/* Sanitizers' libraries define some of musl's names, but not _rtld_global. */
static void linker_find(struct search *search)
{
    for (size_t i = 0; i < search->count && !search->linker; i++) {
        const struct otelread_elf *const elf = &search->objects[i].elf;

        if (has(elf, "_rtld_global"))
            search->symbol->libc = OTELREAD_GLIBC;
        else if (has(elf, "_dl_debug_addr") && has(elf, "__libc_start_main"))
            search->symbol->libc = OTELREAD_MUSL;
        else
            continue;
        search->linker = elf;
    }
}

/*
 * A word of 0 is not relocated yet, or belongs to a weak symbol that was
 * undefined at the time. But musl may place a block at the thread pointer.
 */
static int place_static(struct search *search, enum otelread_access access,
                        uint64_t word, uint64_t delta)
{
    const int64_t offset = (int64_t)(word + delta);

    if ((word == 0 || offset == 0) && search->symbol->libc != OTELREAD_MUSL)
        return 0;
    if (!otelread_machine_offset_fits(search->definition->elf.machine, offset))
        return 0;
    search->symbol->access = access;
    search->symbol->offset = offset;
    search->symbol->module = 0;
    return 1;
}

/* Accepts only an offset that some definition has, too. */
static int place_dynamic(struct search *search, enum otelread_access access,
                         uint64_t module, uint64_t offset)
{
    if (module == 0 || module > MODULES_MAX)
        return 0;
    for (size_t i = 0; i < search->count; i++) {
        if (!search->objects[i].defines || search->objects[i].value != offset)
            continue;
        search->symbol->access = access;
        search->symbol->offset = (int64_t)offset;
        search->symbol->module = module;
        return 1;
    }
    return 0;
}

/*
 * A TLS descriptor is a function and its argument. A bound one has a function
 * of the dynamic linker; with lazy binding it is the object's own at first, and
 * the argument something else. The argument is an offset or an address. Its
 * value does not tell which (a heap may begin low), but what is at the address
 * does.
 */
static int descriptor_take(struct search *search,
                           const struct reference *reference,
                           const uint64_t words[2])
{
    const struct otelread_elf *const elf = reference->elf;
    uint64_t index[3]; /* module, offset and, with glibc, generation */

    if (words[0] == 0 || otelread_elf_contains(elf, words[0], 1) ||
        (search->linker && !otelread_elf_contains(search->linker, words[0], 1)))
        return 0;
    if (elf->read(elf->source, words[1], index, sizeof(index)) == 0 &&
        place_dynamic(search, OTELREAD_TLSDESC_DYNAMIC, index[0],
                      index[1] + reference->delta)) {
        search->symbol->generation =
            search->symbol->libc == OTELREAD_GLIBC ? index[2] : 0;
        return 1;
    }
    return place_static(search, OTELREAD_TLSDESC_STATIC, words[1],
                        reference->delta);
}

/* Returns 1 (the place is in search->symbol), 0 (not bound yet) or -errno. */
static int reference_take(struct search *search,
                          const struct reference *reference)
{
    const struct otelread_elf *const elf = reference->elf;
    const uint32_t type = ELF64_R_TYPE(reference->relocation.r_info);
    const bool pair = type != elf->machine->tp_offset;
    uint64_t words[2] = {0, 0};
    const int error =
        otelread_elf_copy(elf, elf->bias + reference->relocation.r_offset,
                          words, pair ? sizeof(words) : sizeof(words[0]));

    if (error != 0)
        return error;
    if (!pair)
        return place_static(search, OTELREAD_INITIAL_EXEC, words[0],
                            reference->delta);
    if (type == elf->machine->tlsdesc)
        return descriptor_take(search, reference, words);
    if (place_dynamic(search, OTELREAD_GENERAL_DYNAMIC, words[0],
                      reference->named ? words[1] : reference->delta) == 0)
        return 0;
    if (search->symbol->libc == OTELREAD_GLIBC)
        search->symbol->generation =
            otelread_generation(search->objects, search->count, words[0]);
    return 1;
}

/* Whether the relocation is of use: 1, 0 or -errno. */
static int is_reference(const struct search *search,
                        const struct reference *reference)
{
    const struct otelread_machine *const machine = reference->elf->machine;
    const uint32_t type = ELF64_R_TYPE(reference->relocation.r_info);
    const uint32_t symbol = (uint32_t)ELF64_R_SYM(reference->relocation.r_info);

    if (type != machine->tlsdesc && type != machine->module &&
        type != machine->tp_offset)
        return 0;
    if (!reference->named)
        return symbol == STN_UNDEF;
    return symbol == STN_UNDEF
               ? 0
               : otelread_elf_is_named(reference->elf, symbol, search->name);
}

/*
 * Goes through the relocations of one object: 1, 0 or -errno. A module's number
 * (general dynamic) is only the last resort: for a library that was opened late
 * and still got static TLS, glibc fills the dynamic thread vector of a thread
 * on its first use, and code with the other relocations never uses it.
 */
static int object_search(struct search *search,
                         const struct otelread_object *object, bool named)
{
    struct otelread_relocations relocations = {.elf = &object->elf};
    struct reference reference = {.elf = &object->elf, .named = named};
    int found = 0;
    int result;

    while ((result = otelread_relocations_next(&relocations,
                                               &reference.relocation)) > 0) {
        reference.delta = (named ? 0 : object->value) -
                          (uint64_t)reference.relocation.r_addend;
        result = is_reference(search, &reference);
        if (result == 0)
            continue;
        if (result > 0)
            result = reference_take(search, &reference);
        if (result < 0)
            break;
        search->unbound = search->unbound || result == 0;
        found = result > 0 || found;
        if (result > 0 && search->symbol->access != OTELREAD_GENERAL_DYNAMIC)
            return 1;
    }
    return result == 0 || otelread_elf_is_broken(result) ? found : result;
}

static int references_search(struct search *search)
{
    const struct otelread_object *const definition = search->definition;
    int result = object_search(search, definition, true);

    for (size_t i = 0; result == 0 && i < search->count; i++) {
        if (&search->objects[i] != definition)
            result = object_search(search, &search->objects[i], true);
    }
    return result == 0 ? object_search(search, definition, false) : result;
}

static int place_find(struct search *search)
{
    const struct otelread_object *const definition = search->definition;

    if (definition->executable) {
        const int64_t block = otelread_machine_first_block(
            definition->elf.machine, &definition->elf.tls);

        return place_static(search, OTELREAD_LOCAL_EXEC, (uint64_t)block,
                            definition->value) == 1
                   ? 0
                   : -ENOTSUP;
    }

    linker_find(search);
    const int result = references_search(search);
    if (result < 0)
        return result;
    if (result == 0)
        return search->unbound ? -EAGAIN : -ENOTSUP;
    if (search->symbol->module != 0 &&
        search->symbol->libc == OTELREAD_LIBC_OTHER)
        return -ENOTSUP;
    return 0;
}

int otelread_symbol_choose(const struct otelread_object *objects, size_t count,
                           const char *name, struct otelread_symbol *symbol)
{
    struct search search = {
        .objects = objects,
        .count = count,
        .name = name,
        .definition = otelread_scope_first(objects, count),
        .symbol = symbol,
    };

    *symbol = (struct otelread_symbol){.libc = OTELREAD_LIBC_OTHER};
    if (!search.definition)
        return -ENOENT;
    symbol->machine = search.definition->elf.machine->elf;
    symbol->header = search.definition->elf.header;
    symbol->value = search.definition->value;
    (void)snprintf(symbol->object, sizeof(symbol->object), "%s",
                   search.definition->path);
    return place_find(&search);
}
