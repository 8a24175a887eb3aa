/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/resident.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

/* The kernel's Documentation/admin-guide/mm/pagemap.rst. */
#define PRESENT (UINT64_C(1) << 63)

/* The largest payload, not aligned, takes so many pages of 4 KiB. */
#define PAGES_MAX 17

void otelread_resident_close(struct otelread_resident *resident)
{
    if (resident->pagemap > 0)
        (void)close(resident->pagemap);
    if (resident->memory >= 0)
        (void)close(resident->memory);
    *resident = (struct otelread_resident){0, -1};
}

/* 0, -EFAULT or -EAGAIN. */
static int check_present(int pagemap, uint64_t address, size_t size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t first = address / page;
    const uint64_t count = (address + size - 1) / page - first + 1;
    uint64_t entries[PAGES_MAX];
    bool present = true;

    if (count > PAGES_MAX)
        return -EAGAIN;
    const size_t wanted = (size_t)count * sizeof(entries[0]);
    const ssize_t got =
        pread(pagemap, entries, wanted, (off_t)(first * sizeof(entries[0])));
    if (got < 0)
        return -EAGAIN;
    if ((size_t)got < wanted)
        return -EFAULT;
    for (uint64_t i = 0; i < count; i++)
        present = present && (entries[i] & PRESENT) != 0;
    return present ? 0 : -EAGAIN;
}

/*
 * Not process_vm_readv(2): if the page is evicted in between, that call blocks
 * on userfaultfd(2), while the file returns EIO. But the file ignores
 * protection.
 */
int otelread_resident_copy(const struct otelread_resident *resident,
                           uint64_t address, void *out, size_t size)
{
    const ssize_t got = pread(resident->memory, out, size, (off_t)address);

    return got >= 0 && (size_t)got == size ? 0 : -EAGAIN;
}

int otelread_resident_read(const struct otelread_resident *resident,
                           uint64_t address, void *out, size_t size)
{
    if (size == 0 || address > INT64_MAX - size)
        return size == 0 ? 0 : -EFAULT;
    if (resident->pagemap <= 0 || resident->memory < 0)
        return -EAGAIN;

    const int error = check_present(resident->pagemap, address, size);
    return error != 0 ? error
                      : otelread_resident_copy(resident, address, out, size);
}

/* Address 0 is never mapped: an error, or end of file if memory is gone. */
bool otelread_resident_is_gone(const struct otelread_resident *resident)
{
    char byte;

    return pread(resident->memory, &byte, 1, 0) == 0;
}
