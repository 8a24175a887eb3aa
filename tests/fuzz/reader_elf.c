/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A process whose executable, library and dynamic linker are the same bytes,
 * at three addresses and with heap between them: whatever they are, looking
 * for the variable ends, reads nothing that is not there, and what it says is
 * possible. The last byte is how far apart the images are.
 */
#include "demo/reader/elf/choose.h"
#include "demo/reader/elf/objects.h"
#include "demo/reader/elf/symtab.h"
#include "tests/fuzz/fuzz.h"

#define NAME    "otel_thread_ctx_v1"
#define OBJECTS 3

struct process {
    const uint8_t *bytes;
    size_t size;
    uint64_t distance;
    uint64_t reads; /* may be so many more */
};

static uint64_t base_of(const struct process *process, size_t object)
{
    return UINT64_C(0x10000) + object * process->distance;
}

/* The heap, at the bottom, has the same bytes again. */
static int process_read(void *source, uint64_t address, void *out, size_t size)
{
    struct process *const process = source;

    if (process->reads-- == 0) {
        process->reads++;
        return -E2BIG;
    }
    for (size_t i = 0; i < OBJECTS + 1; i++) {
        const uint64_t base = i == OBJECTS ? 0 : base_of(process, i);

        if (address < base || address - base > process->size ||
            size > process->size - (address - base))
            continue;
        memcpy(out, process->bytes + (address - base), size);
        return 0;
    }
    return -EFAULT;
}

static void judge(int error, const struct otelread_symbol *symbol)
{
    require(error == 0 || error == -ENOENT || error == -EAGAIN ||
            error == -ENOTSUP || error == -E2BIG);
    if (error != 0)
        return;
    require(otelread_access_name(symbol->access));
    require(otelread_access_is_static(symbol->access) == (symbol->module == 0));
    require(symbol->object[0] != '\0');
    if (symbol->module != 0)
        require(symbol->libc != OTELREAD_LIBC_OTHER && symbol->offset >= 0);
    else
        require((symbol->machine == EM_X86_64) == (symbol->offset < 0));
}

static void search(struct process *process)
{
    static char path[] = "/object";
    struct otelread_object list[OBJECTS] = {{.path = path}};
    struct otelread_objects objects = {.list = list};
    struct otelread_symbol symbol;

    for (size_t i = 0; i < OBJECTS; i++) {
        list[i] = (struct otelread_object){
            .path = path,
            .executable = i == 0 && process->bytes[process->size - 1] % 2,
            .elf = {.read = process_read,
                    .source = process,
                    .header = base_of(process, i)}};
        if (otelread_elf_open(&list[i].elf) != 0)
            return;
        list[i].elf.interpreted = true; /* its file is not for fuzzing */
        objects.count++;
    }
    int error = otelread_objects_find_definitions(&objects, NAME, 8);
    if (error == 0)
        error = otelread_symbol_choose(list, OBJECTS, NAME, &symbol);
    judge(error, &symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;

    /* Not data itself, so that the sanitizer knows where it ends. */
    uint8_t *const bytes = malloc(size);
    struct process process = {bytes, size,
                              UINT64_C(0x1000) << data[size - 1] % 32, 20000};
    Elf64_Sym symbol;

    require(bytes);
    memcpy(bytes, data, size);
    search(&process);

    process.reads = 20000;
    const int error =
        otelread_symtab_lookup(process_read, &process, NAME, &symbol);
    require(error == 0 || error == -ENOENT || error == -E2BIG ||
            otelread_elf_is_broken(error));
    free(bytes);
    return 0;
}
