/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/objects.h"

#include "demo/base/root.h"
#include "demo/reader/elf/dynsym.h"
#include "demo/reader/elf/scope.h"
#include "demo/reader/elf/symtab.h"
#include "demo/reader/os/maps.h"
#include "demo/reader/os/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A limit against malicious processes: some hundred are many. */
#define OBJECTS_MAX 4096

/* A system call costs about as much as copying this many bytes. */
#define READ_COST 4096

/* Half a second of work, many times what the largest programs need. */
#define READS_MAX (UINT64_C(1) << 31)

/* A file of the process, with a limit of its own for reads. */
struct file {
    int fd;
    uint64_t left;
};

static int charge(uint64_t *left, size_t size)
{
    const uint64_t cost = READ_COST + size;

    if (*left < cost)
        return -E2BIG;
    *left -= cost;
    return 0;
}

static int memory_read(void *source, uint64_t address, void *out, size_t size)
{
    struct otelread_objects *const objects = source;
    const int error = charge(&objects->left, size);

    if (error != 0)
        return error;
    return otelread_memory_read(objects->target, address, out, size);
}

static int file_read(void *source, uint64_t offset, void *out, size_t size)
{
    struct file *const file = source;
    const int error = charge(&file->left, size);

    if (error != 0)
        return error;
    if (offset > INT64_MAX)
        return -EFAULT;
    const ssize_t got = pread(file->fd, out, size, (off_t)offset);
    return got >= 0 && (size_t)got == size ? 0 : -EFAULT;
}

/* An address in the executable, as the kernel told it. 0: there is none. */
static uint64_t executable_address(const struct otelread_target *target)
{
    Elf64_auxv_t entries[64];
    const int fd = otelread_target_file(target, "auxv");

    if (fd < 0)
        return 0;
    const ssize_t got = read(fd, entries, sizeof(entries));
    (void)close(fd);
    for (ssize_t i = 0; i < got / (ssize_t)sizeof(entries[0]); i++) {
        if (entries[i].a_type == AT_PHDR)
            return entries[i].a_un.a_val;
    }
    return 0;
}

/* Takes over elf and copies the path. */
static int object_append(struct otelread_objects *objects,
                         const struct otelread_elf *elf,
                         const struct otelread_maps_line *line)
{
    if (objects->count == OBJECTS_MAX)
        return -E2BIG;
    if ((objects->count & (objects->count - 1)) == 0) { /* full: double it */
        const size_t room = objects->count == 0 ? 1 : 2 * objects->count;
        void *const list =
            reallocarray(objects->list, room, sizeof(*objects->list));

        if (!list)
            return -ENOMEM;
        objects->list = list;
    }

    char *const path = strndup(line->name, line->name_size);
    if (!path)
        return -ENOMEM;
    objects->list[objects->count++] =
        (struct otelread_object){.elf = *elf, .path = path};
    return 0;
}

/* The first page of an image is the first of its file. */
static bool may_be_image(const struct otelread_maps_line *line)
{
    return line->offset == 0 && line->permissions[0] == 'r' &&
           line->name_size > 0 && line->name[0] == '/';
}

static int line_take(struct otelread_objects *objects,
                     const struct otelread_maps_line *line)
{
    struct otelread_elf elf = {
        .read = memory_read, .source = objects, .header = line->start};

    if (!may_be_image(line))
        return 0;
    int error = otelread_elf_open(&elf);
    if (error == 0 && !otelread_machine_is_native(elf.machine))
        error = -ENOTSUP; /* run by an emulator: no thread pointer of its own */
    if (error == -ENOTSUP)
        objects->foreign = true;
    if (error == -ENOTSUP || otelread_elf_is_broken(error))
        return 0;
    return error != 0 ? error : object_append(objects, &elf, line);
}

static int maps_scan(struct otelread_objects *objects)
{
    int fd = otelread_target_maps(objects->target);
    struct otelread_maps maps = {.read = otelread_maps_read_fd, .source = &fd};
    struct otelread_maps_line line;
    int result;
    int error;

    if (fd < 0)
        return fd;
    do {
        result = otelread_maps_next_line(&maps, &line);
        error = result > 0 ? line_take(objects, &line) : result;
    } while (result > 0 && error == 0);
    (void)close(fd);
    return error;
}

static void objects_cut(struct otelread_objects *objects, size_t count)
{
    while (objects->count > count)
        free(objects->list[--objects->count].path);
}

/* The last object that contains the address: sizes may be forged. */
static void executable_find(struct otelread_objects *objects)
{
    const uint64_t address = executable_address(objects->target);
    struct otelread_object *found = NULL;

    for (size_t i = 0; i < objects->count; i++) {
        struct otelread_object *const object = &objects->list[i];

        if (otelread_elf_contains(&object->elf, address, 1) &&
            (!found || object->elf.header > found->elf.header))
            found = object;
    }
    if (found)
        found->executable = true;
}

int otelread_objects_load(struct otelread_objects *objects,
                          struct otelread_target *target)
{
    *objects = (struct otelread_objects){.target = target, .left = READS_MAX};
    const int error = maps_scan(objects);
    if (error != 0) {
        otelread_objects_free(objects);
        return error;
    }

    const size_t loaded = otelread_scope_loaded(objects->list, objects->count);
    if (loaded == 0) {
        executable_find(objects);
        return 0;
    }
    objects_cut(objects, loaded);
    objects->list[0].executable = true; /* AT_PHDR may be that of ld.so */
    return 0;
}

void otelread_objects_free(struct otelread_objects *objects)
{
    objects_cut(objects, 0);
    free(objects->list);
    objects->list = NULL;
}

/* The variable that is looked for. */
struct variable {
    const char *name;
    uint64_t size;
};

/* A variable of another size means something else. */
static bool symbol_take(struct otelread_object *object,
                        const struct variable *variable,
                        const Elf64_Sym *symbol)
{
    const uint64_t size = object->elf.tls.p_memsz;

    object->defines = ELF64_ST_TYPE(symbol->st_info) == STT_TLS &&
                      symbol->st_size == variable->size &&
                      size >= variable->size &&
                      symbol->st_value <= size - variable->size;
    object->value = symbol->st_value;
    return object->defines;
}

static int file_define(struct otelread_objects *objects,
                       struct otelread_object *object,
                       const struct variable *variable)
{
    struct file file = {.left = READS_MAX};
    Elf64_Sym symbol;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/exe",
                   (int)objects->target->task);
    file.fd = otelbase_root_open(AT_FDCWD, path);
    if (file.fd < 0)
        return file.fd;
    const int error =
        otelread_symtab_lookup(file_read, &file, variable->name, &symbol);
    (void)close(file.fd);
    if (otelread_elf_is_broken(error))
        return -ENOENT;
    if (error != 0)
        return error;
    return symbol_take(object, variable, &symbol) ? 0 : -ENOENT;
}

int otelread_objects_find_definitions(struct otelread_objects *objects,
                                      const char *name, uint64_t size)
{
    const struct variable variable = {name, size};
    struct otelread_object *without_linker = NULL;
    bool found = false;

    for (size_t i = 0; i < objects->count; i++) {
        struct otelread_object *const object = &objects->list[i];
        Elf64_Sym symbol;
        const int error = otelread_elf_lookup(&object->elf, name, &symbol);

        object->defines = false;
        if (error == 0)
            found = symbol_take(object, &variable, &symbol) || found;
        else if (error != -ENOENT && !otelread_elf_is_broken(error))
            return error;
        if (object->executable && !object->elf.interpreted)
            without_linker = object;
    }
    if (found)
        return 0;
    return without_linker ? file_define(objects, without_linker, &variable)
                          : -ENOENT;
}
