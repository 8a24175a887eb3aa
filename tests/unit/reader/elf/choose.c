/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/choose.h"
#include "demo/reader/elf/objects.h"
#include "demo/reader/elf/scope.h"
#include "demo/reader/elf/symbol_address.h"
#include "demo/reader/elf/symbol_find.h"
#include "shim/wire/thread.h"
#include "tests/support/elf_image.h"

#include <criterion/criterion.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME OTELCTX_THREAD_SYMBOL

/* The relocations of a processor, and an offset that static TLS can have. */
static const struct processor {
    uint16_t machine;
    uint32_t tlsdesc, module, module_offset, tp_offset;
    int64_t offset;
} processors[] = {
    {EM_X86_64, R_X86_64_TLSDESC, R_X86_64_DTPMOD64, R_X86_64_DTPOFF64,
     R_X86_64_TPOFF64, -832},
    {EM_AARCH64, R_AARCH64_TLSDESC, R_AARCH64_TLS_DTPMOD, R_AARCH64_TLS_DTPREL,
     R_AARCH64_TLS_TPREL, 832},
};

/* A process that does not exist. */
enum {
    PROGRAM,
    SHIM,
    OTHER,
    LINKER,
    OBJECTS
};

static struct image images[OBJECTS];
static struct memory memory;
static struct otelread_object list[OBJECTS];
static struct otelread_symbol symbol;
static char paths[OBJECTS][8] = {"program", "shim", "other", "linker"};

static uint64_t base_of(size_t object)
{
    return UINT64_C(0x7f0000000000) + object * 0x100000;
}

/* A function of the dynamic linker, to which descriptors point. */
#define RESOLVER (base_of(LINKER) + 64)

static uint32_t function(struct image *image, const char *name)
{
    return image_symbol(image, name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0);
}

static uint32_t reference(struct image *image)
{
    return image_symbol(image, NAME, ELF64_ST_INFO(STB_GLOBAL, STT_TLS),
                        SHN_UNDEF, 0);
}

/* A process of glibc in which no object defines the variable yet. */
static void process_make(const struct processor *processor)
{
    memory.count = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        image_make(&images[i], processor->machine);
        memory_map(&memory, base_of(i), &images[i], sizeof(images[i]));
    }
    image_segment(&images[PROGRAM], 3, PT_INTERP, 0, 8);
    function(&images[LINKER], "_rtld_global");
}

static int choose(void)
{
    struct otelread_objects objects = {.list = list, .count = OBJECTS};

    for (size_t i = 0; i < OBJECTS; i++) {
        list[i] = (struct otelread_object){
            .elf = {.read = memory_read,
                    .source = &memory,
                    .header = base_of(i)},
            .path = paths[i],
            .executable = i == PROGRAM,
        };
        cr_assert_eq(otelread_elf_open(&list[i].elf), 0);
    }
    const size_t loaded = otelread_scope_loaded(list, OBJECTS);
    if (loaded > 0)
        objects.count = loaded;
    const int error = otelread_objects_find_definitions(&objects, NAME, 8);
    return error != 0
               ? error
               : otelread_symbol_choose(list, objects.count, NAME, &symbol);
}

static void expect_static(enum otelread_access access, int64_t offset,
                          size_t object)
{
    cr_assert_eq(choose(), 0);
    cr_expect_eq(symbol.access, access, "%s",
                 otelread_access_name(symbol.access));
    cr_expect_eq(symbol.offset, offset, "%ld", (long)symbol.offset);
    cr_expect_eq(symbol.module, 0);
    cr_expect_str_eq(symbol.object, paths[object]);
}

static void expect_dynamic(enum otelread_access access, uint64_t module,
                           int64_t offset, size_t object)
{
    cr_assert_eq(choose(), 0);
    cr_expect_eq(symbol.access, access, "%s",
                 otelread_access_name(symbol.access));
    cr_expect_eq(symbol.module, module);
    cr_expect_eq(symbol.offset, offset, "%ld", (long)symbol.offset);
    cr_expect_str_eq(symbol.object, paths[object]);
}

/* A descriptor in words 2 and 3. */
static void descriptor(struct image *image, const struct processor *processor,
                       uint32_t index, uint64_t argument)
{
    image_plt(image, processor->tlsdesc, index, 2);
    image->words[2] = RESOLVER;
    image->words[3] = argument;
}

Test(reader_symbol, without_a_definition_there_is_none)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        cr_expect_eq(choose(), -ENOENT);
        image_relocation(&images[OTHER], p->tp_offset,
                         reference(&images[OTHER]), 0);
        cr_expect_eq(choose(), -ENOENT, "only used");
        cr_expect_eq(otelread_symbol_choose(list, OBJECTS, NAME, &symbol),
                     -ENOENT);
        image_symbol(&images[SHIM], NAME, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                     1, 8);
        cr_expect_eq(choose(), -ENOENT, "no TLS variable");
    }
}

Test(reader_symbol, a_variable_must_fit_into_its_segment)
{
    process_make(processors);
    const uint32_t index =
        image_variable(&images[SHIM], NAME, IMAGE_TLS_SIZE - 7);
    cr_expect_eq(choose(), -ENOENT);
    images[SHIM].symbols[index].st_value = UINT64_MAX;
    cr_expect_eq(choose(), -ENOENT);
    images[SHIM].symbols[index].st_value = 0;
    images[SHIM].segments[2].p_memsz = 7;
    cr_expect_eq(choose(), -ENOENT);
}

Test(reader_symbol, a_variable_must_have_the_size_of_a_pointer)
{
    process_make(processors);
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    descriptor(&images[SHIM], processors, index, (uint64_t)processors->offset);
    images[SHIM].symbols[index].st_size = 4;
    cr_expect_eq(choose(), -ENOENT);
    images[SHIM].symbols[index].st_size = 16;
    cr_expect_eq(choose(), -ENOENT);
}

Test(reader_symbol, a_descriptor_holds_an_offset_from_the_thread_pointer)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        descriptor(&images[SHIM], p, image_variable(&images[SHIM], NAME, 8),
                   (uint64_t)p->offset);
        expect_static(OTELREAD_TLSDESC_STATIC, p->offset, SHIM);
        cr_expect_eq(symbol.machine, p->machine);
    }
}

Test(reader_symbol, a_descriptor_may_be_in_either_relocation_table)
{
    process_make(processors);
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    image_relocation(&images[SHIM], R_X86_64_TLSDESC, index, 4);
    images[SHIM].words[4] = RESOLVER;
    images[SHIM].words[5] = (uint64_t)-64;
    expect_static(OTELREAD_TLSDESC_STATIC, -64, SHIM);
}

Test(reader_symbol, a_descriptor_may_point_to_a_module_and_an_offset)
{
    const uint64_t index[3] = {5, 16, 7};

    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        memory_map(&memory, 0x7e0000001000, index, sizeof(index));
        descriptor(&images[SHIM], p, image_variable(&images[SHIM], NAME, 16),
                   0x7e0000001000);
        expect_dynamic(OTELREAD_TLSDESC_DYNAMIC, 5, 16, SHIM);
        cr_expect_eq(symbol.generation, 7);
        cr_expect_eq(symbol.libc, OTELREAD_GLIBC);
    }
}

Test(reader_symbol, a_descriptor_is_recognised_by_the_function_it_points_to)
{
    const uint64_t index[3] = {5, 16, 7};

    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        memory_map(&memory, 0x404e38, index, sizeof(index));
        descriptor(&images[SHIM], p, image_variable(&images[SHIM], NAME, 16),
                   0x404e38);
        expect_dynamic(OTELREAD_TLSDESC_DYNAMIC, 5, 16, SHIM);
    }
}

Test(reader_symbol, a_pointer_to_something_else_is_refused)
{
    uint64_t index[3] = {5, 24, 7};

    process_make(processors);
    memory_map(&memory, 0x7e0000001000, index, sizeof(index));
    descriptor(&images[SHIM], processors,
               image_variable(&images[SHIM], NAME, 16), 0x7e0000001000);
    cr_expect_eq(choose(), -EAGAIN, "another offset");
    index[1] = 16;
    index[0] = 0;
    cr_expect_eq(choose(), -EAGAIN, "module 0");
    index[0] = UINT64_C(1) << 40;
    cr_expect_eq(choose(), -EAGAIN, "absurd module");
    images[SHIM].words[3] = 0x7d0000000000;
    cr_expect_eq(choose(), -EAGAIN, "nothing is there");
}

Test(reader_symbol, a_descriptor_that_is_not_bound_yet_is_reported)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        descriptor(&images[SHIM], p, image_variable(&images[SHIM], NAME, 8),
                   (uint64_t)p->offset);
        images[SHIM].words[2] = base_of(SHIM) + 128; /* its own PLT */
        cr_expect_eq(choose(), -EAGAIN);
        images[SHIM].words[2] = base_of(OTHER);
        cr_expect_eq(choose(), -EAGAIN, "not the dynamic linker's");
        images[SHIM].words[2] = 0;
        cr_expect_eq(choose(), -EAGAIN, "not even relocated");
        cr_expect_str_eq(symbol.object, "shim");
    }
}

Test(reader_symbol, an_offset_on_the_wrong_side_is_refused)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        descriptor(&images[SHIM], p, image_variable(&images[SHIM], NAME, 8),
                   (uint64_t)-p->offset);
        cr_expect_eq(choose(), -EAGAIN);
        images[SHIM].words[3] = 0;
        cr_expect_eq(choose(), -EAGAIN);
    }
}

Test(reader_symbol, an_undefined_weak_reference_is_ignored)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        image_variable(&images[SHIM], NAME, 8);
        descriptor(&images[OTHER], p, reference(&images[OTHER]), 32);
        images[OTHER].plt[0].r_addend = 32;
        cr_expect_eq(choose(), -EAGAIN);
    }
}

Test(reader_symbol, in_musl_the_variable_may_be_at_the_thread_pointer)
{
    process_make(&processors[1]);
    descriptor(&images[SHIM], &processors[1],
               image_variable(&images[SHIM], NAME, 0), 0);
    image_make(&images[LINKER], EM_AARCH64);
    function(&images[LINKER], "_dl_debug_addr");
    function(&images[LINKER], "__libc_start_main");
    expect_static(OTELREAD_TLSDESC_STATIC, 0, SHIM);
    cr_expect_eq(symbol.libc, OTELREAD_MUSL);
}

Test(reader_symbol, general_dynamic_is_a_module_and_an_offset)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        const uint32_t index = image_variable(&images[SHIM], NAME, 24);
        image_relocation(&images[SHIM], p->module, index, 0);
        image_relocation(&images[SHIM], p->module_offset, index, 1);
        cr_expect_eq(choose(), -EAGAIN, "not relocated yet");
        images[SHIM].words[0] = 3;
        images[SHIM].words[1] = 24;
        expect_dynamic(OTELREAD_GENERAL_DYNAMIC, 3, 24, SHIM);
        cr_expect_eq(symbol.generation, 0);
    }
}

Test(reader_symbol, initial_exec_is_an_offset_from_the_thread_pointer)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        image_relocation(&images[SHIM], p->tp_offset,
                         image_variable(&images[SHIM], NAME, 24), 6);
        images[SHIM].words[6] = (uint64_t)p->offset;
        expect_static(OTELREAD_INITIAL_EXEC, p->offset, SHIM);
    }
}

Test(reader_symbol, addends_do_not_matter)
{
    const uint64_t index[3] = {5, 32, 7};

    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        const uint32_t name = image_variable(&images[SHIM], NAME, 24);
        image_relocation(&images[SHIM], p->tp_offset, name, 6)->r_addend = 8;
        images[SHIM].words[6] = (uint64_t)p->offset + 8;
        expect_static(OTELREAD_INITIAL_EXEC, p->offset, SHIM);

        images[SHIM].words[6] = 0;
        descriptor(&images[SHIM], p, name, (uint64_t)p->offset + 8);
        images[SHIM].plt[0].r_addend = 8;
        expect_static(OTELREAD_TLSDESC_STATIC, p->offset, SHIM);
        images[SHIM].words[3] = 0x7e0000001000;
        memory_map(&memory, 0x7e0000001000, index, sizeof(index));
        expect_dynamic(OTELREAD_TLSDESC_DYNAMIC, 5, 24, SHIM);
    }
}

/* Drepper, "ELF Handling For Thread-Local Storage", 3.4.6; as ld does. */
Test(reader_symbol, local_exec_follows_from_the_segment)
{
    static const struct {
        uint64_t address, size, align, value;
        int64_t x86_64, aarch64;
    } cases[] = {
        {0x3df0, 8, 8, 0, -8, 16},
        {0x3df0, 24, 16, 16, -16, 32},
        {0x3d40, 0x68, 0x40, 0x60, -0x20, 0xa0},
        {0x4000, 4200, 4096, 104, -8088, 4200},
        {0x4000, 9, 1, 1, -8, 17},
        {0x4000, 9, 0, 1, -8, 17},
        {0x4010, 24, 64, 16, -32, 32}, /* the block is as far from 64 */
        {0x4020, 24, 64, 16, -16, 48},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (const struct processor *p = processors; p < processors + 2; p++) {
            process_make(p);
            image_variable(&images[PROGRAM], NAME, cases[i].value);
            images[PROGRAM].segments[2].p_vaddr = cases[i].address;
            images[PROGRAM].segments[2].p_memsz = cases[i].size;
            images[PROGRAM].segments[2].p_align = cases[i].align;
            expect_static(OTELREAD_LOCAL_EXEC,
                          p == processors ? cases[i].x86_64 : cases[i].aarch64,
                          PROGRAM);
        }
    }
}

Test(reader_symbol, an_executable_with_absurd_storage_is_refused)
{
    process_make(processors);
    image_variable(&images[PROGRAM], NAME, 0);
    images[PROGRAM].segments[2].p_memsz = UINT64_C(1) << 32;
    cr_expect_eq(choose(), -ENOTSUP);
}

Test(reader_symbol, a_definition_of_the_executable_beats_every_library)
{
    process_make(processors);
    descriptor(&images[SHIM], processors,
               image_variable(&images[SHIM], NAME, 8), (uint64_t)-832);
    image_variable(&images[PROGRAM], NAME, 8);
    expect_static(OTELREAD_LOCAL_EXEC, 8 - IMAGE_TLS_SIZE, PROGRAM);
}

Test(reader_symbol, a_relocation_of_any_object_gives_the_place)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        image_variable(&images[SHIM], NAME, 8);
        cr_expect_eq(choose(), -ENOTSUP, "nobody");
        cr_expect_str_eq(symbol.object, "shim");
        image_relocation(&images[PROGRAM], p->tp_offset,
                         reference(&images[PROGRAM]), 1);
        images[PROGRAM].words[1] = (uint64_t)p->offset;
        expect_static(OTELREAD_INITIAL_EXEC, p->offset, SHIM);
    }
}

Test(reader_symbol, relocations_of_other_variables_are_ignored)
{
    process_make(processors);
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    const uint32_t other = image_variable(&images[SHIM], "other", 16);
    image_relocation(&images[SHIM], R_X86_64_TPOFF64, other, 0);
    image_relocation(&images[SHIM], R_X86_64_GLOB_DAT, index, 1);
    images[SHIM].words[0] = images[SHIM].words[1] = (uint64_t)-8;
    cr_expect_eq(choose(), -ENOTSUP);
    image_relocation(&images[SHIM], R_X86_64_TPOFF64, index, 2);
    images[SHIM].words[2] = (uint64_t)-16;
    expect_static(OTELREAD_INITIAL_EXEC, -16, SHIM);
}

/* With a protected variable or -Bsymbolic the relocations have no name. */
Test(reader_symbol, a_relocation_without_a_name_gives_the_library_its_block)
{
    for (const struct processor *p = processors; p < processors + 2; p++) {
        process_make(p);
        image_variable(&images[SHIM], NAME, 8);
        image_relocation(&images[SHIM], p->tp_offset, STN_UNDEF, 0)->r_addend =
            32;
        images[SHIM].words[0] = (uint64_t)p->offset + 32;
        expect_static(OTELREAD_INITIAL_EXEC, p->offset + 8, SHIM);

        process_make(p);
        image_variable(&images[SHIM], NAME, 8);
        image_relocation(&images[SHIM], p->module, STN_UNDEF, 0);
        images[SHIM].words[0] = 2;
        expect_dynamic(OTELREAD_GENERAL_DYNAMIC, 2, 8, SHIM);

        process_make(p);
        image_variable(&images[SHIM], NAME, 8);
        descriptor(&images[SHIM], p, STN_UNDEF, (uint64_t)p->offset + 8);
        images[SHIM].plt[0].r_addend = 8;
        expect_static(OTELREAD_TLSDESC_STATIC, p->offset + 8, SHIM);
    }
}

Test(reader_symbol, a_reference_by_name_beats_one_without)
{
    process_make(processors);
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    image_relocation(&images[SHIM], R_X86_64_TPOFF64, STN_UNDEF, 0);
    images[SHIM].words[0] = (uint64_t)-64;
    image_relocation(&images[SHIM], R_X86_64_TPOFF64, index, 1);
    images[SHIM].words[1] = (uint64_t)-256;
    expect_static(OTELREAD_INITIAL_EXEC, -256, SHIM);
}

/* glibc fills a thread's table late; a descriptor has its value at once. */
Test(reader_symbol, a_descriptor_beats_a_module)
{
    process_make(processors);
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    image_relocation(&images[SHIM], R_X86_64_DTPMOD64, index, 0);
    images[SHIM].words[0] = 2;
    images[SHIM].words[1] = 8;
    descriptor(&images[SHIM], processors, index, (uint64_t)-832);
    expect_static(OTELREAD_TLSDESC_STATIC, -832, SHIM);
}

Test(reader_symbol, a_broken_library_does_not_hide_the_others)
{
    process_make(processors);
    image_variable(&images[SHIM], NAME, 8);
    image_relocation(&images[SHIM], R_X86_64_TPOFF64, 1, 0)->r_offset =
        UINT64_MAX - 8;
    image_dynamic(&images[LINKER], DT_SYMTAB, 0);
    image_relocation(&images[OTHER], R_X86_64_TPOFF64,
                     reference(&images[OTHER]), 1);
    images[OTHER].words[1] = (uint64_t)-32;
    expect_static(OTELREAD_INITIAL_EXEC, -32, SHIM);
}

Test(reader_symbol, a_module_of_an_unknown_libc_is_refused)
{
    process_make(processors);
    image_relocation(&images[SHIM], R_X86_64_DTPMOD64,
                     image_variable(&images[SHIM], NAME, 8), 0);
    images[SHIM].words[0] = 2;
    images[SHIM].words[1] = 8;
    image_make(&images[LINKER], EM_X86_64);
    cr_expect_eq(choose(), -ENOTSUP);
}

Test(reader_symbol, static_storage_is_found_without_knowing_the_libc)
{
    process_make(processors);
    descriptor(&images[SHIM], processors,
               image_variable(&images[SHIM], NAME, 8), (uint64_t)-832);
    image_make(&images[LINKER], EM_X86_64);
    expect_static(OTELREAD_TLSDESC_STATIC, -832, SHIM);
    cr_expect_eq(symbol.libc, OTELREAD_LIBC_OTHER);
    images[SHIM].words[2] = 0;
    cr_expect_eq(choose(), -EAGAIN);
}

#define DEBUG UINT64_C(0x7e0000001000)
#define NODES UINT64_C(0x7e0000002000)

/* The dynamic linker's lists of objects, each with nodes of its own. */
static struct {
    struct r_debug base;
    uint64_t next;
} debugs[2];
static struct link_map nodes[2][OBJECTS];

static uint64_t node_at(size_t space, size_t index)
{
    return NODES + (uint64_t)((char *)&nodes[space][index] - (char *)nodes);
}

/* The list of a namespace, with these objects in this order. */
static void list_make(size_t space, const size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t dynamic =
            base_of(order[i]) + offsetof(struct image, dynamic);
        struct link_map *const node = &nodes[space][i];

        node->l_ld = (void *)dynamic;
        node->l_next = i + 1 < count ? (void *)node_at(space, i + 1) : NULL;
        node->l_prev = i > 0 ? (void *)node_at(space, i - 1) : NULL;
    }
    debugs[space].base.r_version = 1;
    debugs[space].base.r_map = (void *)node_at(space, 0);
    image_dynamic(&images[PROGRAM], DT_DEBUG, DEBUG);
    memory_map(&memory, DEBUG, debugs, sizeof(debugs));
    memory_map(&memory, NODES, nodes, sizeof(nodes));
}

static void both_define(void)
{
    process_make(processors);
    for (size_t i = SHIM; i <= OTHER; i++) {
        image_relocation(&images[i], R_X86_64_TPOFF64,
                         image_variable(&images[i], NAME, 8), 0);
        images[i].words[0] = (uint64_t)(-8 * (int64_t)i);
    }
}

Test(reader_symbol, of_several_definitions_the_first_one_loaded_counts)
{
    both_define();
    list_make(0, (const size_t[]){PROGRAM, OTHER, SHIM, LINKER}, 4);
    expect_static(OTELREAD_INITIAL_EXEC, -16, OTHER);
    both_define();
    list_make(0, (const size_t[]){PROGRAM, SHIM, OTHER, LINKER}, 4);
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
}

Test(reader_symbol, an_object_that_is_not_in_a_list_does_not_count)
{
    both_define();
    list_make(0, (const size_t[]){PROGRAM, OTHER}, 2);
    expect_static(OTELREAD_INITIAL_EXEC, -16, OTHER);
    list_make(0, (const size_t[]){PROGRAM, LINKER}, 2);
    cr_expect_eq(choose(), -ENOENT);
}

Test(reader_symbol, an_object_counts_in_any_namespace)
{
    both_define();
    list_make(0, (const size_t[]){PROGRAM, LINKER}, 2);
    list_make(1, (const size_t[]){OTHER, LINKER}, 2);
    debugs[0].next = DEBUG + sizeof(debugs[0]);
    cr_expect_eq(choose(), -ENOENT, "version 1 has one list");
    debugs[0].base.r_version = debugs[1].base.r_version = 2;
    expect_static(OTELREAD_INITIAL_EXEC, -16, OTHER);
}

/* Descriptors do not point to functions of such a copy. */
Test(reader_symbol, a_linker_that_is_mapped_only_as_a_file_is_not_the_linker)
{
    process_make(processors);
    descriptor(&images[OTHER], processors,
               image_variable(&images[OTHER], NAME, 8), (uint64_t)-832);
    function(&images[SHIM], "_rtld_global");
    list_make(0, (const size_t[]){PROGRAM, OTHER, LINKER}, 3);
    expect_static(OTELREAD_TLSDESC_STATIC, -832, OTHER);
}

Test(reader_symbol, a_broken_list_is_ignored)
{
    both_define();
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
    image_dynamic(&images[PROGRAM], DT_DEBUG, 16);
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);

    both_define();
    list_make(0, (const size_t[]){PROGRAM, LINKER}, 2);
    nodes[0][1].l_next = (void *)node_at(0, 0); /* a ring */
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
    nodes[0][0].l_prev = (void *)node_at(0, 1); /* that is closed */
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
    nodes[0][1].l_next = (void *)0x10;
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
    list_make(0, (const size_t[]){LINKER, PROGRAM}, 2); /* of another */
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
}

/* A library is closed, and something else reuses the memory of its node. */
Test(reader_symbol, a_list_that_changes_meanwhile_is_ignored)
{
    both_define();
    list_make(0, (const size_t[]){PROGRAM, LINKER}, 2);
    nodes[0][1].l_prev = NULL;
    expect_static(OTELREAD_INITIAL_EXEC, -8, SHIM);
}

/* ---- Addresses: this process is the target, with made-up threads --------- */

static struct otelread_target target;

static uint64_t address_in(const void *thread_pointer, int expected)
{
    uint64_t address = 1;

    cr_assert_eq(otelread_target_open(&target, getpid()), 0);
    cr_expect_eq(otelread_symbol_address(&target, &symbol,
                                         (uintptr_t)thread_pointer, &address),
                 expected);
    otelread_target_close(&target);
    return address;
}

Test(reader_symbol, a_static_variable_is_beside_the_thread_pointer)
{
    symbol.access = OTELREAD_LOCAL_EXEC;
    symbol.offset = -832;
    cr_expect_eq(address_in((void *)0x7f0000001000, 0), 0x7f0000000cc0);
    symbol.offset = 16;
    cr_expect_eq(address_in((void *)0x7f0000001000, 0), 0x7f0000001010);
    address_in(NULL, -ENODATA);
}

static void module_make(enum otelread_libc libc, uint16_t machine)
{
    symbol = (struct otelread_symbol){
        .access = OTELREAD_GENERAL_DYNAMIC,
        .libc = libc,
        .machine = machine,
        .module = 2,
        .offset = 24,
    };
}

Test(reader_symbol, glibc_has_a_table_of_two_words_a_module)
{
    uint64_t table[][2] = {{3, 0},      {7, 0},          {0xaa, 1},
                           {0x1000, 1}, {UINT64_MAX, 0}, {0xbb, 0}};
    const uint64_t thread[2] = {(uintptr_t)table[1], (uintptr_t)table[1]};

    module_make(OTELREAD_GLIBC, EM_X86_64); /* at thread[1] */
    cr_expect_eq(address_in(thread, 0), 0x1018);
    module_make(OTELREAD_GLIBC, EM_AARCH64); /* at thread[0] */
    cr_expect_eq(address_in(thread, 0), 0x1018);
    symbol.generation = 7;
    cr_expect_eq(address_in(thread, 0), 0x1018);
}

Test(reader_symbol, a_thread_may_have_no_block_of_a_module_of_glibc)
{
    uint64_t table[][2] = {{3, 0},      {7, 0},          {0xaa, 1},
                           {0x1000, 1}, {UINT64_MAX, 0}, {0xbb, 0}};
    const uint64_t thread[2] = {0, (uintptr_t)table[1]};

    module_make(OTELREAD_GLIBC, EM_X86_64);
    symbol.module = 3;
    address_in(thread, -ENODATA); /* not allocated */
    table[4][0] = 0;
    address_in(thread, -ENODATA); /* never looked at */
    table[4][0] = 0x2000;
    cr_expect_eq(address_in(thread, 0), 0x2018);
    symbol.module = 4;
    address_in(thread, -ENODATA); /* behind the end */
    symbol.module = 2;
    symbol.generation = 8;
    address_in(thread, -ENODATA); /* a block of an earlier module */
    module_make(OTELREAD_GLIBC, EM_AARCH64);
    address_in(thread, -ENODATA); /* the thread is not set up yet */
}

Test(reader_symbol, musl_has_a_table_of_one_word_a_module)
{
    uint64_t table[] = {2, 0xaa, 0x1000, 0xbb};
    const uint64_t thread[3] = {(uintptr_t)table, 0, (uintptr_t)table};

    module_make(OTELREAD_MUSL, EM_X86_64); /* at thread pointer + 8 */
    cr_expect_eq(address_in(&thread[1], 0), 0x1018);
    module_make(OTELREAD_MUSL, EM_AARCH64); /* at thread pointer - 8 */
    cr_expect_eq(address_in(&thread[1], 0), 0x1018);
    symbol.module = 3;
    address_in(&thread[1], -ENODATA);
    symbol.module = 2;
    table[2] = 0;
    address_in(&thread[1], -ENODATA);
}

Test(reader_symbol, tables_that_cannot_be_read_are_reported)
{
    const uint64_t thread[2] = {64, 64};

    module_make(OTELREAD_GLIBC, EM_X86_64);
    address_in((void *)0x10, -EFAULT);
    address_in(thread, -EFAULT);
    module_make(OTELREAD_MUSL, EM_X86_64);
    address_in(thread, -EFAULT);
    module_make(OTELREAD_LIBC_OTHER, EM_X86_64);
    address_in(thread, -ENOTSUP);
}

/* ---- A real process ------------------------------------------------------ */

static char why[384];

static int find_in_target(void)
{
    struct otelread_variable variable = {.name = NAME, .size = 8};

    otelread_variables_find(&target, &variable, 1);
    symbol = variable.symbol;
    memcpy(why, variable.why, sizeof(why));
    return variable.error;
}

static int find(void)
{
    cr_assert_eq(otelread_target_open(&target, getpid()), 0);
    const int error = find_in_target();
    otelread_target_close(&target);
    return error;
}

/* This process's list of objects for debuggers, as a copy with one more node.
 */
static void list_append(char *image)
{
    static struct link_map copy[256];
    static size_t filled;
    ElfW(Dyn) *entry = _DYNAMIC;

    while (entry->d_tag != DT_DEBUG)
        entry++;
    struct r_debug *const debug = (struct r_debug *)entry->d_un.d_ptr;
    for (struct link_map *l = debug->r_map; l && debug->r_map != copy;
         l = l->l_next)
        copy[filled++] = *l;
    copy[filled++] = (struct link_map){
        .l_ld = (ElfW(Dyn) *)(void *)(image + offsetof(struct image, dynamic))};
    for (size_t i = 0; i < filled; i++) {
        copy[i].l_next = i + 1 < filled ? &copy[i + 1] : NULL;
        copy[i].l_prev = i > 0 ? &copy[i - 1] : NULL;
    }
    debug->r_map = copy;
}

/* A file with made-up bytes. */
static char *image_map(const char *name, const void *more, size_t more_size)
{
    const size_t size = sizeof(images[SHIM]) + more_size;
    const int fd = memfd_create(name, MFD_CLOEXEC);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, &images[SHIM], sizeof(images[SHIM])),
                 sizeof(images[SHIM]));
    cr_assert_eq(write(fd, more, more_size), (ssize_t)more_size);
    char *const image = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    cr_assert_neq(image, MAP_FAILED);
    (void)close(fd);
    return image;
}

/* Maps it as the dynamic linker maps a library. */
static void image_load(const char *name, const void *more, size_t more_size)
{
    list_append(image_map(name, more, more_size));
}

static const struct processor *native(void)
{
#ifdef __x86_64__
    return &processors[0];
#else
    return &processors[1];
#endif
}

Test(reader_symbol, a_process_may_have_no_variable)
{
    cr_expect_eq(find(), -ENOENT);
    cr_expect_str_eq(why, "no executable or library of the process defines "
                          "otel_thread_ctx_v1");
}

Test(reader_symbol, a_library_of_a_process_is_found_by_its_mapping)
{
    process_make(native());
    image_relocation(&images[SHIM], native()->tp_offset,
                     image_variable(&images[SHIM], NAME, 8), 0);
    images[SHIM].words[0] = (uint64_t)native()->offset;
    image_load("lib.so", NULL, 0);
    cr_assert_eq(find(), 0, "%s", why);
    cr_expect_eq(symbol.access, OTELREAD_INITIAL_EXEC);
    cr_expect_eq(symbol.offset, native()->offset);
    cr_expect_eq(symbol.libc, OTELREAD_GLIBC);
    cr_expect_str_eq(symbol.object, "/memfd:lib.so (deleted)");
}

/* The number of images of this file. */
static size_t count(const char *path)
{
    struct otelread_objects objects;
    size_t found = 0;

    cr_assert_eq(otelread_target_open(&target, getpid()), 0);
    cr_assert_eq(otelread_objects_load(&objects, &target), 0);
    for (size_t i = 0; i < objects.count; i++)
        found += strcmp(objects.list[i].path, path) == 0;
    otelread_objects_free(&objects);
    otelread_target_close(&target);
    return found;
}

static void page_map(void *at, int protection, int fd, size_t offset)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    cr_assert_neq(
        mmap(at, page, protection, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset),
        MAP_FAILED);
}

/* A small library: its data is in the first page of the file, too. */
Test(reader_symbol, a_first_page_that_is_mapped_twice_is_one_library)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int fd = memfd_create("twice.so", MFD_CLOEXEC);
    char *const start =
        mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(start, MAP_FAILED);
    process_make(native());
    image_segment(&images[SHIM], 0, PT_LOAD, 0, 2 * page);
    for (off_t at = 0; at < 2; at++)
        cr_assert_eq(
            pwrite(fd, &images[SHIM], sizeof(images[SHIM]), at * (off_t)page),
            sizeof(images[SHIM]));
    page_map(start, PROT_READ, fd, 0);
    page_map(start + page, PROT_READ | PROT_WRITE, fd, 0);
    page_map(start + 3 * page, PROT_READ, fd, page); /* seems to be one */
    (void)close(fd);
    list_append(start);
    cr_expect_eq(count("/memfd:twice.so (deleted)"), 1);
}

Test(reader_symbol, a_file_that_is_mapped_only_as_a_file_is_no_library)
{
    process_make(native());
    image_variable(&images[SHIM], NAME, 8);
    image_map("data.so", NULL, 0);
    cr_expect_eq(count("/memfd:data.so (deleted)"), 0);
    cr_expect_eq(find(), -ENOENT);
}

/* As a library such a file would be larger than its mapping. */
Test(reader_symbol, a_mapped_file_hides_no_library_above_it)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    process_make(native());
    image_variable(&images[SHIM], NAME, 8);
    image_segment(&images[SHIM], 0, PT_LOAD, 0, 8 * page);
    char *const place =
        mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int fd = memfd_create("same.so", MFD_CLOEXEC);
    cr_assert_eq(write(fd, &images[SHIM], sizeof(images[SHIM])),
                 sizeof(images[SHIM]));
    page_map(place, PROT_READ, fd, 0);
    page_map(place + page, PROT_READ, fd, 0);
    (void)close(fd);
    list_append(place + page);
    cr_expect_eq(count("/memfd:same.so (deleted)"), 1);
    cr_expect_eq(find(), -ENOTSUP, "it is defined: %s", why);
}

Test(reader_symbol, a_process_with_too_many_images_is_an_error)
{
    process_make(native());
    for (int i = 0; i < 4100; i++)
        image_map("small.so", NULL, 0);
    cr_expect_eq(find(), -E2BIG);
    cr_expect_neq(strstr(why, "more libraries"), NULL);
}

Test(reader_symbol, a_library_of_an_emulated_processor_is_ignored)
{
    const struct processor *const foreign =
        &processors[native() == processors ? 1 : 0];

    process_make(foreign);
    image_relocation(&images[SHIM], foreign->tp_offset,
                     image_variable(&images[SHIM], NAME, 8), 0);
    images[SHIM].words[0] = (uint64_t)foreign->offset;
    image_load("lib.so", NULL, 0);
    cr_expect_eq(find(), -ENOENT);
}

Test(reader_symbol, every_fault_has_a_message)
{
    process_make(native());
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    image_load("lib.so", NULL, 0);
    cr_expect_eq(find(), -ENOTSUP);
    cr_expect_str_eq(why, "/memfd:lib.so (deleted) defines otel_thread_ctx_v1, "
                          "but no relocation tells where it is");

    image_relocation(&images[SHIM], native()->tp_offset, index, 0);
    image_load("lib2.so", NULL, 0);
    cr_expect_eq(find(), -EAGAIN);
    cr_expect_neq(strstr(why, "nobody has used it"), NULL);
}

Test(reader_symbol, a_search_that_would_never_end_is_an_error)
{
    enum {
        COUNT = 400000
    };
    Elf64_Rela *const many = calloc(COUNT, sizeof(*many));

    cr_assert_not_null(many);
    process_make(native());
    const uint32_t index = image_variable(&images[SHIM], NAME, 8);
    for (size_t i = 0; i < COUNT; i++)
        many[i] = image_rela(native()->tp_offset, index, 0);
    image_segment(&images[SHIM], 0, PT_LOAD, 0,
                  sizeof(images[SHIM]) + COUNT * sizeof(*many));
    image_dynamic(&images[SHIM], DT_RELA, sizeof(images[SHIM]));
    image_dynamic(&images[SHIM], DT_RELASZ, COUNT * sizeof(*many));
    image_load("lib.so", many, COUNT * sizeof(*many));
    free(many);
    cr_expect_eq(find(), -E2BIG);
    cr_expect_neq(strstr(why, "than can be searched"), NULL);
}

Test(reader_symbol, a_process_that_has_ended_is_an_error)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(pause());
    cr_assert_eq(otelread_target_open(&target, child), 0);
    (void)kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(find_in_target(), -ESRCH);
    cr_expect_str_eq(why, "No such process");
}

Test(reader_symbol, each_way_of_access_has_a_name)
{
    cr_expect_str_eq(otelread_access_name(OTELREAD_TLSDESC_STATIC),
                     "tlsdesc-static");
    cr_expect_str_eq(otelread_access_name(OTELREAD_TLSDESC_DYNAMIC),
                     "tlsdesc-dynamic");
    cr_expect_str_eq(otelread_access_name(OTELREAD_GENERAL_DYNAMIC),
                     "general-dynamic");
    cr_expect_str_eq(otelread_access_name(OTELREAD_INITIAL_EXEC),
                     "initial-exec");
    cr_expect_str_eq(otelread_access_name(OTELREAD_LOCAL_EXEC), "local-exec");
    cr_expect(otelread_access_is_static(OTELREAD_LOCAL_EXEC));
    cr_expect_not(otelread_access_is_static(OTELREAD_TLSDESC_DYNAMIC));
}
