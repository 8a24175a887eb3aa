/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/doctor/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <linux/openat2.h>, which musl's headers are without. */
struct how {
    uint64_t flags, mode, resolve;
};
#define RESOLVE_IN_ROOT 0x10

int otelrun_root_open(int root, const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT};
    long fd = -1;

    errno = ENOSYS;
    if (root != AT_FDCWD)
        fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        while (root != AT_FDCWD && *path == '/')
            path++;
        fd = openat(root, path, flags);
    }
    return fd < 0 ? -errno : (int)fd;
}

long otelrun_root_read(int root, const char *path, char *out, size_t size)
{
    const int fd = otelrun_root_open(root, path);
    struct stat about;
    size_t used = 0;
    ssize_t got = 1;
    long err = 0;

    if (fd < 0)
        return fd;
    if (fstat(fd, &about) != 0)
        err = -errno;
    else if (!S_ISREG(about.st_mode))
        err = -EINVAL;
    while (err == 0 && got > 0 && used < size) {
        got = read(fd, out + used, size - used);
        if (got > 0)
            used += (size_t)got;
        else if (got < 0)
            err = -errno;
    }
    (void)close(fd);
    return err != 0 ? err : (long)used;
}
