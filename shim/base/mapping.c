/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/mapping.h"

#include "shim/base/order.h"
#include "shim/base/sys.h"

enum {
    NO_FILE = -1
};

/* OTEP 4719, "Publication Protocol", step 2: first with the flag that newer
 * kernels may require, then without it, for older kernels. */
static const bool seal_noexec[] = {true, false};

/* A memfd of `size` bytes, or NO_FILE where the system refuses one. */
static int open_memfd(const char *name, size_t size)
{
    uint64_t limit;
    int fd = NO_FILE;

    /* ftruncate beyond this limit would kill the process with SIGXFSZ. */
    if (otelctx_sys_file_size_limit(&limit) || limit < size)
        return NO_FILE;
    for (size_t i = 0; fd < 0 && i < sizeof(seal_noexec); i++)
        fd = otelctx_sys_memfd(name, seal_noexec[i]);
    if (fd >= 0 && otelctx_sys_truncate(fd, size)) {
        (void)otelctx_sys_close(fd);
        return NO_FILE;
    }
    return fd < 0 ? NO_FILE : fd;
}

/* Stores the address before MADV_DONTFORK: a signal handler that forks in
 * between then finds the mapping and can make the child inherit it. */
static int map(size_t size, int fd, uint8_t **out,
               struct otelctx_failure *failure)
{
    void *at;
    int err = otelctx_sys_map(size, fd, &at);

    if (err)
        return otelctx_fail(failure, "mmap", err);
    otelctx_store_visible(out, (uint8_t *)at);
    err = otelctx_sys_dont_fork(at, size);
    if (err) {
        *out = NULL;
        (void)otelctx_sys_unmap(at, size);
        return otelctx_fail(failure, "madvise", err);
    }
    return 0;
}

int otelctx_mapping_open(const char *name, size_t size,
                         struct otelctx_mapping *out,
                         struct otelctx_failure *failure)
{
    const int fd = open_memfd(name, size);
    int err;

    *out = (struct otelctx_mapping){.size = size, .has_name = fd != NO_FILE};
    err = map(size, fd, &out->at, failure);
    if (fd != NO_FILE)
        (void)otelctx_sys_close(fd);
    return err;
}

void otelctx_mapping_close(struct otelctx_mapping *mapping)
{
    const struct otelctx_mapping closed = *mapping;

    *mapping = (struct otelctx_mapping){0};
    if (otelctx_sys_unmap(closed.at, closed.size))
        *mapping = closed; /* a sandbox refused munmap: keep for later use */
}

int otelctx_mapping_reserve(size_t size, uint8_t **out,
                            struct otelctx_failure *failure)
{
    return map(size, NO_FILE, out, failure);
}
