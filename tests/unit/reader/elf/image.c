/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/image.h"
#include "demo/reader/elf/dynsym.h"
#include "demo/reader/elf/relocations.h"
#include "demo/reader/elf/symtab.h"
#include "tests/support/elf_image.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x7f0000400000)

#define GLOBAL_OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

static struct image image;
static struct memory memory;
static struct otelread_elf elf;

static void make(void)
{
    image_make(&image, EM_X86_64);
    memory.count = 0;
    memory_map(&memory, BASE, &image, sizeof(image));
}

TestSuite(reader_elf, .init = make);

static int open_at(uint64_t header)
{
    elf = (struct otelread_elf){
        .read = memory_read, .source = &memory, .header = header};
    return otelread_elf_open(&elf);
}

static int lookup(const char *name, Elf64_Sym *symbol)
{
    cr_assert_eq(open_at(BASE), 0);
    return otelread_elf_lookup(&elf, name, symbol);
}

Test(reader_elf, an_image_is_described_where_it_was_loaded)
{
    image_dynamic(&image, DT_DEBUG, 0x1234);
    image_segment(&image, 3, PT_INTERP, 0, 8);
    cr_assert_eq(open_at(BASE), 0);
    cr_expect_eq(elf.bias, BASE);
    cr_expect_eq(elf.start, BASE);
    cr_expect_eq(elf.end, BASE + sizeof(image));
    cr_expect_eq(elf.machine->elf, EM_X86_64);
    cr_expect_eq(elf.dynamic, BASE + offsetof(struct image, dynamic));
    cr_expect_eq(elf.debug, 0x1234);
    cr_expect_eq(elf.tls.p_memsz, IMAGE_TLS_SIZE);
    cr_expect(elf.interpreted);
}

Test(reader_elf, an_image_has_bounds)
{
    const uint64_t end = BASE + sizeof(image);

    cr_assert_eq(open_at(BASE), 0);
    cr_expect(otelread_elf_contains(&elf, BASE, sizeof(image)));
    cr_expect(otelread_elf_contains(&elf, end - 8, 8));
    cr_expect_not(otelread_elf_contains(&elf, BASE - 1, 1));
    cr_expect_not(otelread_elf_contains(&elf, end - 8, 9));
    cr_expect_not(otelread_elf_contains(&elf, end, 1));
    cr_expect_not(otelread_elf_contains(&elf, end + 1, 0));
    cr_expect_not(otelread_elf_contains(&elf, BASE, UINT64_MAX));
    cr_expect_not(otelread_elf_contains(&elf, UINT64_MAX, 2));
}

Test(reader_elf, an_image_need_not_be_linked_at_address_0)
{
    for (size_t i = 0; i < 3; i++)
        image.segments[i].p_vaddr += 0x400000;
    image.header.e_type = ET_EXEC;
    cr_assert_eq(open_at(BASE), 0);
    cr_expect_eq(elf.bias, BASE - 0x400000);
    cr_expect_eq(elf.start, BASE);
    cr_expect_eq(elf.end, BASE + sizeof(image));
}

Test(reader_elf, the_first_segment_may_begin_behind_the_header)
{
    image.segments[0].p_offset = image.segments[0].p_vaddr = 64;
    image.segments[0].p_memsz -= 64;
    cr_assert_eq(open_at(BASE), 0);
    cr_expect_eq(elf.bias, BASE);
    cr_expect_eq(elf.start, BASE);
    cr_expect_eq(elf.end, BASE + sizeof(image));
}

Test(reader_elf, what_is_not_an_elf_image_is_refused)
{
    cr_expect_eq(open_at(BASE + 8), -ENOEXEC);
    cr_expect_eq(open_at(BASE - 1), -EFAULT);
    image.header.e_type = ET_REL;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
}

Test(reader_elf, other_widths_byte_orders_and_machines_are_told_apart)
{
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    cr_expect_eq(open_at(BASE), -ENOTSUP);
    make();
    image.header.e_ident[EI_DATA] = ELFDATA2MSB;
    cr_expect_eq(open_at(BASE), -ENOTSUP);
    make();
    image.header.e_machine = EM_RISCV;
    cr_expect_eq(open_at(BASE), -ENOTSUP);
}

Test(reader_elf, broken_program_headers_are_refused)
{
    image.header.e_phentsize = 55;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
    make();
    image.header.e_phnum = 0;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
    make();
    image.header.e_phnum = 0xffff;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
    make();
    image.header.e_phoff = UINT64_MAX - 8;
    cr_expect_eq(open_at(BASE), -EFAULT);
    make();
    image.segments[0].p_type = PT_NULL;
    cr_expect_eq(open_at(BASE), -ENOEXEC, "nothing is loaded");
    make();
    image.segments[0].p_offset = 0x10000;
    cr_expect_eq(open_at(BASE), -ENOEXEC, "the header is not loaded");
    make();
    image.segments[0].p_memsz = UINT64_MAX;
    image.segments[0].p_vaddr = 0x1000;
    cr_expect_eq(open_at(BASE), -ENOEXEC, "a segment wraps around");
    make();
    image.segments[0].p_memsz = 0;
    cr_expect_eq(open_at(BASE), -ENOEXEC, "the image is empty");
    make();
    image.segments[1].p_vaddr = sizeof(image) - 16;
    cr_expect_eq(open_at(BASE), -EFAULT, "the dynamic section leads out");
}

Test(reader_elf, absurd_tls_segments_are_refused)
{
    image.segments[2].p_align = 24;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
    make();
    image.segments[2].p_align = UINT64_C(1) << 33;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
    image.segments[2].p_align = UINT64_C(1) << 32;
    cr_expect_eq(open_at(BASE), 0);
    make();
    image.segments[2].p_memsz = UINT64_MAX;
    cr_expect_eq(open_at(BASE), -ENOEXEC);
}

Test(reader_elf, a_definition_is_found_through_either_hash_table)
{
    static const int64_t tags[] = {DT_GNU_HASH, DT_HASH};

    for (size_t i = 0; i < 2; i++) {
        Elf64_Sym symbol;

        make();
        image_only_hash(&image, tags[i]);
        image_symbol(&image, "first", GLOBAL_OBJECT, 1, 1);
        image_variable(&image, "wanted", 16);
        image_symbol(&image, "last", GLOBAL_OBJECT, 1, 3);
        cr_assert_eq(lookup("wanted", &symbol), 0);
        cr_expect_eq(symbol.st_value, 16);
        cr_expect_eq(lookup("last", &symbol), 0);
        cr_expect_eq(lookup("wante", &symbol), -ENOENT);
        cr_expect_eq(lookup("wanted!", &symbol), -ENOENT);
        cr_expect_eq(lookup("", &symbol), -ENOENT);
    }
}

/* Literal values, which every linker computes. */
Test(reader_elf, names_are_hashed_as_the_formats_say)
{
    enum {
        BUCKETS = 1021
    };
    static uint32_t sysv[2 + BUCKETS + 4] = {BUCKETS, 4};
    static uint32_t gnu[4 + BUCKETS + 4] = {BUCKETS, 1};
    Elf64_Sym symbol;

    image_symbol(&image, "printf", GLOBAL_OBJECT, 1, 1);
    image_symbol(&image, "exit", GLOBAL_OBJECT, 1, 2);
    sysv[2 + 0x077905a6 % BUCKETS] = 1;
    sysv[2 + 0x0006cf04 % BUCKETS] = 2;
    gnu[4 + 0x156b2bb8 % BUCKETS] = 1;
    gnu[4 + 0x7c967e3f % BUCKETS] = 2;
    gnu[4 + BUCKETS] = 0x156b2bb8 | 1;
    gnu[4 + BUCKETS + 1] = 0x7c967e3f | 1;
    image.segments[0].p_memsz = sizeof(image) + sizeof(sysv) + sizeof(gnu);
    memory_map(&memory, BASE + sizeof(image), sysv, sizeof(sysv));
    memory_map(&memory, BASE + sizeof(image) + sizeof(sysv), gnu, sizeof(gnu));
    image_dynamic(&image, DT_HASH, sizeof(image));
    image_dynamic(&image, DT_GNU_HASH, sizeof(image) + sizeof(sysv));
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(lookup("printf", &symbol), 0);
        cr_expect_eq(symbol.st_value, 1);
        cr_expect_eq(lookup("exit", &symbol), 0);
        cr_expect_eq(symbol.st_value, 2);
        cr_expect_eq(lookup("malloc", &symbol), -ENOENT);
        image_dynamic(&image, DT_GNU_HASH, 0);
    }
}

Test(reader_elf, only_a_global_definition_counts)
{
    static const int64_t tags[] = {DT_GNU_HASH, DT_HASH};
    Elf64_Sym symbol;

    for (size_t i = 0; i < 2; i++) {
        make();
        image_only_hash(&image, tags[i]);
        image_symbol(&image, "x", GLOBAL_OBJECT, SHN_UNDEF, 1);
        image_symbol(&image, "x", ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 1, 2);
        cr_expect_eq(lookup("x", &symbol), -ENOENT);
        image_symbol(&image, "x", ELF64_ST_INFO(STB_WEAK, STT_OBJECT), 1, 3);
        cr_expect_eq(lookup("x", &symbol), 0);
        cr_expect_eq(symbol.st_value, 3);
    }
}

Test(reader_elf, the_dynamic_section_may_hold_addresses_or_offsets)
{
    Elf64_Sym symbol;

    image_variable(&image, "wanted", 8);
    image_dynamic(&image, DT_SYMTAB, BASE + offsetof(struct image, symbols));
    image_dynamic(&image, DT_GNU_HASH, BASE + offsetof(struct image, gnu));
    cr_expect_eq(lookup("wanted", &symbol), 0);
    image_dynamic(&image, DT_STRTAB, BASE + offsetof(struct image, strings));
    cr_expect_eq(lookup("wanted", &symbol), 0);
}

Test(reader_elf, an_image_without_tables_has_no_symbols)
{
    Elf64_Sym symbol;

    image_variable(&image, "wanted", 8);
    image_dynamic(&image, DT_HASH, 0);
    image_dynamic(&image, DT_GNU_HASH, 0);
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);
    image.segments[1].p_type = PT_NULL;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);
}

Test(reader_elf, hash_tables_that_lead_out_of_the_image_are_refused)
{
    Elf64_Sym symbol;

    image_variable(&image, "wanted", 8);
    image.gnu.bucket[0] = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
    image.gnu.bucket[0] = 1;
    image.gnu.first = 2;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT, "before the first");
    image.gnu.first = 1;
    image.gnu.buckets = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
    image.gnu.buckets = 1;
    image.gnu.bloom_words = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
    image.gnu.buckets = 0;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);

    image_only_hash(&image, DT_HASH);
    cr_expect_eq(lookup("wanted", &symbol), 0);
    image.sysv.bucket[0] = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
    image.sysv.buckets = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
    image.sysv.buckets = 0;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);
}

Test(reader_elf, endless_hash_chains_are_an_error)
{
    static uint32_t chain[100000]; /* of hashes that are not its end */
    static const uint32_t one = 1;
    Elf64_Sym symbol;

    image_symbol(&image, "other", GLOBAL_OBJECT, 1, 1);
    image.sysv.chain[1] = 1;
    image_only_hash(&image, DT_HASH);
    cr_expect_eq(lookup("wanted", &symbol), -ENOEXEC, "a ring");

    make();
    image_symbol(&image, "other", GLOBAL_OBJECT, 1, 1);
    const size_t bloom = offsetof(struct image, gnu) + 16;
    const size_t words = (sizeof(image) - bloom) / 8 - 1;
    image.gnu.bloom_words = (uint32_t)words; /* the bucket is at the end */
    memcpy((char *)&image + bloom + words * 8, &one, sizeof(one));
    image.segments[0].p_memsz = sizeof(image) + sizeof(chain);
    memory_map(&memory, BASE + sizeof(image), chain, sizeof(chain));
    cr_expect_eq(lookup("wanted", &symbol), -ENOEXEC, "no last link");
}

Test(reader_elf, names_outside_of_the_string_table_match_nothing)
{
    const uint32_t index = image_variable(&image, "wanted", 8);
    Elf64_Sym symbol;

    image.symbols[index].st_name = UINT32_MAX;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);
    image.symbols[index].st_name = sizeof(image.strings) - 6;
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT);
    image.symbols[index].st_name = 1;
    image_dynamic(&image, DT_STRSZ, 7);
    cr_expect_eq(lookup("wanted", &symbol), -ENOENT, "the NUL is outside");
    image_dynamic(&image, DT_STRSZ, 8);
    cr_expect_eq(lookup("wanted", &symbol), 0);
    image_dynamic(&image, DT_STRSZ, UINT64_MAX);
    image.symbols[index].st_name = sizeof(image);
    cr_expect_eq(lookup("wanted", &symbol), -EFAULT);
}

Test(reader_elf, a_symbol_is_compared_with_a_name_by_its_index)
{
    const uint32_t index = image_variable(&image, "wanted", 8);

    cr_assert_eq(open_at(BASE), 0);
    cr_expect_eq(otelread_elf_is_named(&elf, index, "wanted"), 1);
    cr_expect_eq(otelread_elf_is_named(&elf, index, "want"), 0);
    cr_expect_eq(otelread_elf_is_named(&elf, UINT32_MAX, "wanted"), -EFAULT);
    elf.symbols = 0;
    cr_expect_eq(otelread_elf_is_named(&elf, index, "wanted"), -ENOEXEC);
}

/* The number of relocations, and the sum of their addends; or -errno. */
static int walk(int64_t *sum)
{
    struct otelread_relocations relocations = {.elf = &elf};
    Elf64_Rela relocation;
    int count = 0;
    int result;

    *sum = 0;
    cr_assert_eq(open_at(BASE), 0);
    while ((result = otelread_relocations_next(&relocations, &relocation)) >
           0) {
        *sum += relocation.r_addend;
        count++;
    }
    return result < 0 ? result : count;
}

Test(reader_elf, the_relocations_of_both_tables_are_walked)
{
    int64_t sum;

    cr_expect_eq(walk(&sum), 0);
    image_plt(&image, R_X86_64_TLSDESC, 1, 0)->r_addend = 1;
    cr_expect_eq(walk(&sum), 1);
    image_relocation(&image, R_X86_64_TPOFF64, 1, 2)->r_addend = 10;
    image_relocation(&image, R_X86_64_TPOFF64, 1, 2)->r_addend = 100;
    cr_expect_eq(walk(&sum), 3);
    cr_expect_eq(sum, 111);
}

Test(reader_elf, a_table_of_any_length_is_walked)
{
    static Elf64_Rela many[2000];
    int64_t sum;
    int64_t expected = 0;

    for (size_t i = 0; i < 2000; i++)
        expected += many[i].r_addend = (int64_t)(i * i);
    image.segments[0].p_memsz = sizeof(image) + sizeof(many);
    memory_map(&memory, BASE + sizeof(image), many, sizeof(many));
    image_dynamic(&image, DT_RELA, sizeof(image));
    image_plt(&image, R_X86_64_TLSDESC, 1, 0)->r_addend = 5;
    for (size_t count = 500; count <= 2000; count += 3) {
        expected = 5;
        for (size_t i = 0; i < count; i++)
            expected += many[i].r_addend;
        image_dynamic(&image, DT_RELASZ, count * sizeof(many[0]) + 23);
        cr_assert_eq(walk(&sum), (int)count + 1);
        cr_assert_eq(sum, expected);
    }
}

Test(reader_elf, a_relocation_table_never_leads_out_of_the_image)
{
    int64_t sum;

    image_relocation(&image, R_X86_64_TPOFF64, 1, 2);
    image_dynamic(&image, DT_RELASZ, UINT64_MAX);
    cr_expect_eq(walk(&sum), -EFAULT);
    image_dynamic(&image, DT_RELASZ, 24);
    image_dynamic(&image, DT_RELA, sizeof(image) - 8);
    cr_expect_eq(walk(&sum), -EFAULT);
    image_dynamic(&image, DT_RELA, UINT64_MAX);
    cr_expect_eq(walk(&sum), 0);
}

/* Compares with what the dynamic linker knows of an object of this process. */
static int own_read(void *source, uint64_t address, void *out, size_t size)
{
    (void)source;
    memcpy(out, (const void *)(uintptr_t)address, size);
    return 0;
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *seen)
{
    const Elf64_Phdr *tls = NULL;

    (void)size;
    if (info->dlpi_name[0] == '\0' || !strchr(info->dlpi_name, '/'))
        return 0;
    elf = (struct otelread_elf){.read = own_read, .header = info->dlpi_addr};
    cr_assert_eq(otelread_elf_open(&elf), 0, "%s", info->dlpi_name);
    cr_expect_eq(elf.bias, info->dlpi_addr);
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            tls = &info->dlpi_phdr[i];
    }
    cr_expect_eq(elf.tls.p_memsz, tls ? tls->p_memsz : 0, "%s",
                 info->dlpi_name);
    ++*(int *)seen;
    return 0;
}

Test(reader_elf, the_reader_agrees_with_the_dynamic_linker_of_this_process)
{
    static const char *const names[] = {"malloc", "free", "qsort", "stdout",
                                        "environ"};
    Dl_info libc;
    Elf64_Sym symbol;
    int seen = 0;

    dl_iterate_phdr(compare_object, &seen);
    cr_expect_gt(seen, 2);

    void *const handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    cr_assert_neq(dladdr(dlsym(handle, "gnu_get_libc_version"), &libc), 0);
    elf = (struct otelread_elf){.read = own_read,
                                .header = (uintptr_t)libc.dli_fbase};
    cr_assert_eq(otelread_elf_open(&elf), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const uintptr_t address = (uintptr_t)dlsym(handle, names[i]);

        cr_assert_eq(otelread_elf_lookup(&elf, names[i], &symbol), 0, "%s",
                     names[i]);
        cr_expect_eq(elf.bias + symbol.st_value, address, "%s", names[i]);
    }
    cr_expect_eq(otelread_elf_lookup(&elf, "no such symbol", &symbol), -ENOENT);
}

/* A file with a symbol table of two entries. */
static struct unstripped {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    Elf64_Sym symbols[600];
    char strings[32];
} file;

static void file_make(void)
{
    image_make(&image, EM_X86_64);
    memset(&file, 0, sizeof(file));
    file.header = image.header;
    file.header.e_shoff = offsetof(struct unstripped, sections);
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = 3;
    file.sections[1] = (Elf64_Shdr){
        .sh_type = SHT_SYMTAB,
        .sh_offset = offsetof(struct unstripped, symbols),
        .sh_size = sizeof(file.symbols),
        .sh_link = 2,
    };
    file.sections[2] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB,
        .sh_offset = offsetof(struct unstripped, strings),
        .sh_size = sizeof(file.strings),
    };
    memcpy(file.strings, "\0wanted", 8);
    file.symbols[590] = (Elf64_Sym){
        .st_name = 1,
        .st_info = ELF64_ST_INFO(STB_LOCAL, STT_TLS),
        .st_shndx = 4,
        .st_value = 24,
    };
}

static int file_lookup(uint64_t *value)
{
    struct memory bytes = {.count = 0};
    Elf64_Sym symbol = {.st_value = 0};

    memory_map(&bytes, 0, &file, sizeof(file));
    const int error =
        otelread_symtab_lookup(memory_read, &bytes, "wanted", &symbol);
    *value = symbol.st_value;
    return error;
}

Test(reader_elf, a_variable_is_found_in_the_symbol_table_of_a_file)
{
    uint64_t value;

    file_make();
    cr_expect_eq(file_lookup(&value), 0);
    cr_expect_eq(value, 24);
    file.sections[2].sh_size = 8; /* the name and not a byte more */
    cr_expect_eq(file_lookup(&value), 0);
    file.sections[2].sh_size = 7;
    cr_expect_eq(file_lookup(&value), -ENOENT);
    file.sections[2].sh_size = 8;
    file.symbols[590].st_shndx = SHN_UNDEF;
    cr_expect_eq(file_lookup(&value), -ENOENT);
    file.symbols[590].st_shndx = 4;
    file.symbols[590].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    cr_expect_eq(file_lookup(&value), -ENOENT);
}

Test(reader_elf, a_stripped_file_has_no_variable)
{
    uint64_t value;

    file_make();
    file.sections[1].sh_type = SHT_PROGBITS;
    cr_expect_eq(file_lookup(&value), -ENOENT);
    file.header.e_shnum = 0;
    cr_expect_eq(file_lookup(&value), -ENOENT);
}

Test(reader_elf, a_broken_file_is_refused)
{
    uint64_t value;

    file_make();
    file.header.e_ident[0] = 0;
    cr_expect_eq(file_lookup(&value), -ENOEXEC);
    file_make();
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    cr_expect_eq(file_lookup(&value), -ENOEXEC);
    file_make();
    file.header.e_shentsize = 1;
    cr_expect_eq(file_lookup(&value), -ENOEXEC);
    file_make();
    file.header.e_shoff = UINT64_MAX;
    cr_expect_eq(file_lookup(&value), -EFAULT);
    file_make();
    file.sections[1].sh_link = 3;
    cr_expect_eq(file_lookup(&value), -ENOEXEC);
    file_make();
    file.sections[1].sh_size = UINT64_MAX;
    file.symbols[590].st_name = UINT32_MAX;
    cr_expect_eq(file_lookup(&value), -EFAULT);
    file_make();
    file.sections[2].sh_offset = UINT64_MAX / 2;
    cr_expect_eq(file_lookup(&value), -EFAULT);
}
