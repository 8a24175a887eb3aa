/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More than any linker makes; a broken file need not be read in full. */
#define HEADERS_MAX 64
#define DYNAMIC_MAX 1024

struct file {
    int fd;
    size_t count;
    ElfW(Phdr) headers[HEADERS_MAX];
};

/* Returns 0, -ENOEXEC at the end of the file, or another -errno. */
static int read_exactly(int fd, void *out, size_t size, uint64_t at)
{
    const ssize_t got = pread(fd, out, size, (off_t)at);

    if (got < 0)
        return -errno;
    return (size_t)got == size ? 0 : -ENOEXEC;
}

/* A NUL-terminated text, cut to the room that there is. */
static int read_string(int fd, char *out, size_t size, uint64_t at)
{
    const ssize_t got = pread(fd, out, size - 1, (off_t)at);

    out[got > 0 ? got : 0] = '\0';
    return got < 0 ? -errno : 0;
}

/* Where in the file an address is, or 0. */
static uint64_t offset_of(const struct file *file, uint64_t address)
{
    for (size_t i = 0; i < file->count; i++) {
        const ElfW(Phdr) *const header = &file->headers[i];

        if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
            address - header->p_vaddr < header->p_filesz)
            return address - header->p_vaddr + header->p_offset;
    }
    return 0;
}

/* Of the libraries that the file needs, GCC's address sanitizer. */
static int find_asan(const struct file *file, const ElfW(Phdr) * dynamic,
                     struct otelrun_elf *out)
{
    const size_t size = sizeof(ElfW(Dyn));
    ElfW(Dyn) entry = {.d_tag = DT_NULL};
    uint64_t strings = 0;
    char name[sizeof(out->asan)];

    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0;
             i < DYNAMIC_MAX && (i + 1) * size <= dynamic->p_filesz; i++) {
            if (read_exactly(file->fd, &entry, size,
                             dynamic->p_offset + i * size))
                return -ENOEXEC;
            if (entry.d_tag == DT_NULL)
                break;
            if (pass == 0 && entry.d_tag == DT_STRTAB)
                strings = offset_of(file, entry.d_un.d_ptr);
            if (pass == 0 || entry.d_tag != DT_NEEDED || strings == 0 ||
                read_string(file->fd, name, sizeof(name),
                            strings + entry.d_un.d_val))
                continue;
            if (strncmp(name, "libasan.so", strlen("libasan.so")) == 0)
                memcpy(out->asan, name, sizeof(name));
        }
    }
    return 0;
}

static int read_headers(struct file *file, const ElfW(Ehdr) * start,
                        struct otelrun_elf *out)
{
    int err;

    if (start->e_phentsize != sizeof(file->headers[0]) ||
        start->e_phnum > HEADERS_MAX)
        return -ENOEXEC;
    file->count = start->e_phnum;
    err = read_exactly(file->fd, file->headers,
                       file->count * sizeof(file->headers[0]), start->e_phoff);
    for (size_t i = 0; i < file->count && err == 0; i++) {
        const ElfW(Phdr) *const header = &file->headers[i];

        if (header->p_type == PT_INTERP)
            err = read_string(file->fd, out->interpreter,
                              header->p_filesz < sizeof(out->interpreter)
                                  ? header->p_filesz + 1
                                  : sizeof(out->interpreter),
                              header->p_offset);
        if (header->p_type != PT_DYNAMIC)
            continue;
        out->is_dynamic = true;
        err = find_asan(file, header, out);
    }
    return err;
}

int otelrun_elf_read(int fd, struct otelrun_elf *out)
{
    const uint16_t one = 1;
    const unsigned char own_order =
        *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    struct file file = {.fd = fd};
    ElfW(Ehdr) start;
    int err;

    *out = (struct otelrun_elf){.class = ELFCLASSNONE};
    err = read_exactly(fd, &start, offsetof(ElfW(Ehdr), e_entry), 0);
    if (err != 0)
        return err;
    if (memcmp(start.e_ident, ELFMAG, SELFMAG) != 0)
        return -ENOEXEC;
    out->class = start.e_ident[EI_CLASS];
    out->order = start.e_ident[EI_DATA];
    out->type = start.e_type;
    out->machine = start.e_machine;
    if (out->order != own_order) {
        out->machine = (uint16_t)(start.e_machine << 8 | start.e_machine >> 8);
        return 0;
    }
    if (out->class != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return 0;
    err = read_exactly(fd, &start, sizeof(start), 0);
    return err != 0 ? err : read_headers(&file, &start, out);
}

const char *otelrun_elf_machine(const struct otelrun_elf *elf)
{
    const bool is_wide = elf->class == ELFCLASS64;

    switch (elf->machine) {
    case EM_X86_64:
        return is_wide ? "x86-64" : "x32";
    case EM_386:
        return "32-bit x86";
    case EM_AARCH64:
        return is_wide ? "aarch64" : "32-bit aarch64";
    case EM_ARM:
        return "32-bit Arm";
    case EM_PPC64:
        return "POWER";
    case EM_S390:
        return "S/390";
    case EM_RISCV:
        return "RISC-V";
    default:
        return "another machine";
    }
}

bool otelrun_elf_match(const struct otelrun_elf *a, const struct otelrun_elf *b)
{
    return a->class == b->class && a->order == b->order &&
           a->machine == b->machine;
}

const char *otelrun_elf_libc(const struct otelrun_elf *elf)
{
    if (strstr(elf->interpreter, "/ld-musl-"))
        return "musl";
    return strstr(elf->interpreter, "/ld-linux") ||
                   strstr(elf->interpreter, "/ld64.so")
               ? "glibc"
               : "another libc";
}
