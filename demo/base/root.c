/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <linux/openat2.h>, which musl's headers are without. */
struct how {
    uint64_t flags, mode, resolve;
};
#define RESOLVE_IN_ROOT 0x10

/* As the kernel's, see path_resolution(7). */
#define LINKS_MAX 40

static bool is_same_file(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static bool is_link(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISLNK(about.st_mode);
}

/* Cuts the first part off the path, and opens it. Returns a descriptor, or
 * -errno. */
static int part_open(int root, int directory, char path[PATH_MAX])
{
    const int from = path[0] == '/' ? root : directory;
    const size_t start = strspn(path, "/");
    const size_t size = strcspn(path + start, "/");
    const size_t end = start + size + strspn(path + start + size, "/");
    char part[NAME_MAX + 1] = ".";

    if (size > NAME_MAX)
        return -ENAMETOOLONG;
    (void)memcpy(part, path + start, size);
    (void)memmove(path, path + end, strlen(path + end) + 1);
    if (strcmp(part, "..") == 0 && is_same_file(from, root))
        part[1] = '\0';
    const int fd = openat(from, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Puts what the symbolic link says before the rest of the path. */
static int link_read(int link, char rest[PATH_MAX])
{
    char text[PATH_MAX];
    const ssize_t size = readlinkat(link, "", text, sizeof(text));

    if (size < 0)
        return -errno;
    if ((size_t)size + 1 + strlen(rest) + 1 > sizeof(text))
        return -ENAMETOOLONG;
    text[size] = '/';
    (void)memcpy(text + size + 1, rest, strlen(rest) + 1);
    (void)memcpy(rest, text, strlen(text) + 1);
    return 0;
}

/* What openat2(2) does, for a kernel before 5.6 or a sandbox that refuses it.
 */
static int walk(int root, const char *path)
{
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char rest[PATH_MAX];
    unsigned links = 0;

    if (at < 0)
        return -errno;
    (void)snprintf(rest, sizeof(rest), "%s", path);
    while (at >= 0 && rest[0] != '\0') {
        int next = part_open(root, at, rest);

        if (next >= 0 && is_link(next)) {
            const int error =
                ++links > LINKS_MAX ? -ELOOP : link_read(next, rest);

            (void)close(next);
            if (error == 0)
                continue;
            next = error;
        }
        (void)close(at);
        at = next;
    }
    return at;
}

/* With O_PATH nothing is opened yet. */
static int path_find(int root, const char *path)
{
    const struct how how = {.flags = O_PATH | O_CLOEXEC,
                            .resolve = RESOLVE_IN_ROOT};
    const bool is_own = root == AT_FDCWD;

    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    const int fd =
        is_own ? openat(root, path, O_PATH | O_CLOEXEC)
               : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (fd >= 0)
        return fd;
    return !is_own && (errno == ENOSYS || errno == EPERM) ? walk(root, path)
                                                          : -errno;
}

int otelbase_root_open(int root, const char *path)
{
    /* A lease of somebody else would make even a regular file wait. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int found = path_find(root, path);
    struct stat about;

    if (found < 0)
        return found;
    int error = -EINVAL;
    int fd = -1;
    if (fstat(found, &about) == 0 && S_ISREG(about.st_mode)) {
        char link[64];

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
        fd = open(link, flags);
        error = -errno;
        /* Without /proc there is no other program. */
        if (fd < 0 && error == -ENOENT && root == AT_FDCWD) {
            fd = open(path, flags);
            error = -errno;
        }
    }
    (void)close(found);
    return fd < 0 ? error : fd;
}

long otelbase_root_read(int root, const char *path, char *out, size_t size)
{
    const int fd = otelbase_root_open(root, path);
    size_t used = 0;
    ssize_t got = 1;

    if (fd < 0)
        return fd;
    while (got > 0 && used < size) {
        got = read(fd, out + used, size - used);
        if (got > 0)
            used += (size_t)got;
    }
    const int error = errno;
    (void)close(fd);
    return got < 0 ? -error : (long)used;
}

const char *otelbase_root_message(int error)
{
    return error == -EINVAL ? "not a regular file" : strerror(-error);
}
