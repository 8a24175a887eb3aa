/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/query.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* <linux/fs.h> of Linux 6.11. */
struct query {
    uint64_t size;
    uint64_t flags;
    uint64_t address;
    uint64_t start;
    uint64_t end;
    uint64_t permissions;
    uint64_t page_size;
    uint64_t offset;
    uint64_t inode;
    uint32_t device_major, device_minor;
    uint32_t name_size; /* of the buffer; then of the name, with its NUL */
    uint32_t build_id_size;
    uint64_t name;
    uint64_t build_id;
};
#define QUERY _IOWR('f', 17, struct query)
enum {
    READABLE = 0x01,
    WRITABLE = 0x02,
    EXECUTABLE = 0x04,
    SHARED = 0x08,
    COVERING_OR_NEXT = 0x10,
    FILE_BACKED = 0x20,
};

bool otelread_query_suffices(void)
{
    static enum {
        UNKNOWN,
        NO,
        YES
    } known;

    if (known == UNKNOWN)
        known = prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0UL, 0UL, NULL) == 0
                    ? NO
                    : YES;
    return known == YES;
}

/* Whether the device is the file system of memfd_create(2). */
static bool is_memory(uint32_t device_major, uint32_t device_minor)
{
    static struct stat known;

    if (known.st_ino == 0) {
        const int fd = memfd_create("otelctx-read", MFD_CLOEXEC);

        if (fd < 0 || fstat(fd, &known) != 0)
            known.st_ino = 0;
        if (fd >= 0)
            (void)close(fd);
    }
    return known.st_ino != 0 && device_major == major(known.st_dev) &&
           device_minor == minor(known.st_dev);
}

static void describe(const struct query *q, const char *name,
                     struct otelread_mapping *mapping)
{
    const size_t room = sizeof(mapping->name) - 1;
    const size_t size = strlen(name) < room ? strlen(name) : room;

    mapping->start = q->start;
    mapping->end = q->end;
    mapping->permissions[0] = q->permissions & READABLE ? 'r' : '-';
    mapping->permissions[1] = q->permissions & WRITABLE ? 'w' : '-';
    mapping->permissions[2] = q->permissions & EXECUTABLE ? 'x' : '-';
    mapping->permissions[3] = q->permissions & SHARED ? 's' : 'p';
    mapping->permissions[4] = '\0';
    mapping->in_memory = is_memory(q->device_major, q->device_minor);
    (void)memcpy(mapping->name, name, size);
    mapping->name[size] = '\0';
}

/* The name of the mapping that q describes, or "" if it is gone. */
static void read_name(int fd, const struct query *q, char *name, size_t size)
{
    struct query named = {.size = sizeof(named),
                          .address = q->start,
                          .name_size = (uint32_t)size,
                          .name = (uintptr_t)name};

    if (ioctl(fd, QUERY, &named) != 0 || named.name_size == 0)
        name[0] = '\0';
}

int otelread_query_next(int fd, uint64_t *at, struct otelread_mapping *mapping)
{
    char name[OTELREAD_LINE_SIZE];

    for (;;) {
        struct query q = {.size = sizeof(q),
                          .flags = COVERING_OR_NEXT | FILE_BACKED,
                          .address = *at};

        if (ioctl(fd, QUERY, &q) != 0)
            return errno == ENOENT ? 0 : -errno;
        *at = q.end;
        if (q.device_major != 0) /* memfds are in a file system without one */
            continue;
        read_name(fd, &q, name, sizeof(name));
        if (!otelread_maps_is_context(name, strlen(name)))
            continue;
        describe(&q, name, mapping);
        return 1;
    }
}

int otelread_query_is_readable(int fd, uint64_t address, uint64_t size)
{
    const uint64_t end = address + size;

    if (end < address)
        return 0;
    while (address < end) {
        struct query q = {
            .size = sizeof(q), .flags = READABLE, .address = address};

        if (ioctl(fd, QUERY, &q) != 0)
            return errno == ENOENT ? 0 : -errno;
        address = q.end;
    }
    return 1;
}
