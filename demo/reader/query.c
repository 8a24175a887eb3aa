/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/query.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

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
    uint32_t major, minor;
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
    return prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, 0UL, 0UL, NULL) != 0;
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
    (void)memcpy(mapping->name, name, size);
    mapping->name[size] = '\0';
}

int otelread_query_next(int fd, uint64_t *at, struct otelread_mapping *mapping)
{
    char name[OTELREAD_LINE_SIZE];

    for (;;) {
        struct query q = {
            .size = sizeof(q),
            .flags = COVERING_OR_NEXT | FILE_BACKED,
            .address = *at,
            .name_size = sizeof(name),
            .name = (uintptr_t)name,
        };

        if (ioctl(fd, QUERY, &q) != 0)
            return errno == ENOENT ? 0 : -errno;
        *at = q.end;
        if (!otelread_maps_is_context(name, q.name_size - 1))
            continue;
        describe(&q, name, mapping);
        return 1;
    }
}
