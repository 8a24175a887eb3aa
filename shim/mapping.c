/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/mapping.h"

#include "shim/order.h"
#include "shim/sys.h"
#include "shim/wire.h"

enum {
    NO_FILE = -1
};

/* OTEP 4719, "Publication Protocol", step 2: newest kernels first. */
static const bool seal_noexec[] = {true, false};

/* A file of `size` bytes, or NO_FILE where the system does not let us. */
static int open_file(size_t size)
{
    uint64_t limit;
    int fd = NO_FILE;

    /* Asked first: ftruncate beyond the limit is a deadly signal. */
    if (otelctx_sys_file_size_limit(&limit) || limit < size)
        return NO_FILE;
    for (size_t i = 0; fd < 0 && i < sizeof(seal_noexec); i++)
        fd = otelctx_sys_memfd(OTELCTX_MAPPING_NAME, seal_noexec[i]);
    if (fd >= 0 && otelctx_sys_truncate(fd, size)) {
        (void)otelctx_sys_close(fd);
        return NO_FILE;
    }
    return fd < 0 ? NO_FILE : fd;
}

/* It is noted before it is no longer passed on: see otelctx_publication_pass().
 */
static int map(size_t size, int fd, uint8_t **out, const char **failed)
{
    void *at;
    int err = otelctx_sys_map(size, fd, &at);

    *failed = "mmap";
    if (err)
        return err;
    otelctx_show(out, (uint8_t *)at);
    err = otelctx_sys_dont_fork(at, size);
    if (err) {
        *failed = "madvise";
        *out = NULL;
        (void)otelctx_sys_unmap(at, size);
    }
    return err;
}

int otelctx_mapping_open(size_t size, struct otelctx_mapping *out,
                         const char **failed)
{
    const int fd = open_file(size);
    int err;

    *out = (struct otelctx_mapping){.size = size, .found = fd != NO_FILE};
    err = map(size, fd, &out->at, failed);
    if (fd != NO_FILE)
        (void)otelctx_sys_close(fd);
    return err;
}

void otelctx_mapping_close(struct otelctx_mapping *mapping)
{
    const struct otelctx_mapping closed = *mapping;

    *mapping = (struct otelctx_mapping){0};
    if (otelctx_sys_unmap(closed.at, closed.size))
        *mapping = closed; /* a sandbox forbids that: to be used again */
}

int otelctx_mapping_reserve(size_t size, uint8_t **out, const char **failed)
{
    return map(size, NO_FILE, out, failed);
}
