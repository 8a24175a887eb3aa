/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Memory that never answers: registered with userfaultfd(2), or mapped from a
 * file of a FUSE server that accepts read requests and never answers them.
 */

#include "tests/e2e/reader/reader_threads.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* ---- userfaultfd -------------------------------------------------------- */

static inline int fault_descriptor(void)
{
    struct uffdio_api api = {.api = UFFD_API};
    const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0)
        _exit(94);
    return fd;
}

/* Nobody resolves page faults there; returns the descriptor on which each fault
 * is a message. */
static inline int never_bring(void *page)
{
    const int fd = fault_descriptor();
    struct uffdio_register area = {
        .range = {.start = (uintptr_t)page, .len = PAGE},
        .mode = UFFDIO_REGISTER_MODE_MISSING,
    };

    if (fd < 0 || ioctl(fd, UFFDIO_REGISTER, &area) != 0)
        _exit(94);
    return fd;
}

static inline void *page_never_brought(void)
{
    void *const page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        _exit(94);
    never_bring(page);
    return page;
}

/* ---- FUSE --------------------------------------------------------------- */

/*
 * Most servers choose asynchronous reads: the kernel waits for pages, and a
 * fatal signal ends the wait. With synchronous reads the kernel waits for the
 * answer, and only the server can end the wait.
 */
enum fuse_reads {
    FUSE_READS_KILLABLE,
    FUSE_READS_UNKILLABLE
};

static inline void fuse_reply(int fd, uint64_t unique, int error,
                              const void *body, size_t size)
{
    const struct fuse_out_header head = {.len = (uint32_t)(sizeof(head) + size),
                                         .error = -error,
                                         .unique = unique};
    const struct iovec parts[] = {
        {(void *)(uintptr_t)&head, sizeof(head)},
        {(void *)(uintptr_t)body, size},
    };

    if (writev(fd, parts, size > 0 ? 2 : 1) < 0)
        _exit(93);
}

/* Answers all requests but reads. The root is a regular file. */
static inline void fuse_answer(int fd, const struct fuse_in_header *request,
                               enum fuse_reads reads)
{
    const struct fuse_init_out init = {
        .major = FUSE_KERNEL_VERSION,
        .minor = 31,
        .flags = reads == FUSE_READS_KILLABLE ? FUSE_ASYNC_READ : 0,
        .max_background = 16,
        .congestion_threshold = 12,
        .max_write = PAGE,
        .max_readahead = PAGE,
    };
    const struct fuse_attr_out attributes = {
        .attr_valid = 1000,
        .attr = {.ino = FUSE_ROOT_ID,
                 .size = 2 * (uint64_t)PAGE,
                 .mode = S_IFREG | 0644,
                 .nlink = 1,
                 .blksize = PAGE},
    };
    const struct fuse_open_out opened = {.fh = 1};

    switch (request->opcode) {
    case FUSE_INIT:
        fuse_reply(fd, request->unique, 0, &init, sizeof(init));
        break;
    case FUSE_GETATTR:
        fuse_reply(fd, request->unique, 0, &attributes, sizeof(attributes));
        break;
    case FUSE_OPEN:
        fuse_reply(fd, request->unique, 0, &opened, sizeof(opened));
        break;
    case FUSE_READ:
    case FUSE_INTERRUPT:
    case FUSE_FORGET:
        break;
    default:
        fuse_reply(fd, request->unique, ENOSYS, NULL, 0);
    }
}

/* The server ends with the caller. */
static inline void fuse_serve(int fd, enum fuse_reads reads)
{
    static char buffer[1 << 17] __attribute__((aligned(8)));

    if (fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        const ssize_t got = read(fd, buffer, sizeof(buffer));

        if (got > 0)
            fuse_answer(fd, (const struct fuse_in_header *)(void *)buffer,
                        reads);
        else if (errno != EINTR && errno != EAGAIN)
            _exit(0);
    }
}

static inline void enter_own_root(void)
{
    static const char root[] = "/tmp"; /* mounted in this namespace only */

    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("test", root, "tmpfs", 0, NULL) != 0 || chdir(root) != 0 ||
        syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0)
        _exit(92);
}

/* The page at that offset of a file of that name, right below the root. */
static inline void *map_fuse(const char *name, off_t offset,
                             enum fuse_reads reads)
{
    const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[64];
    struct stat known;

    enter_own_root();
    close(open(name, O_CREAT | O_WRONLY, 0644));
    snprintf(options, sizeof(options),
             "fd=%d,rootmode=100000,user_id=0,group_id=0", device);
    if (device < 0 || mount("test", name, "fuse", 0, options) != 0)
        _exit(91);
    fuse_serve(device, reads);
    close(device); /* so that the connection ends with the server */
    const int fd = open(name, O_RDONLY);
    fstat(fd, &known); /* else the kernel takes the file for empty */
    void *const page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, offset);
    if (fd < 0 || page == MAP_FAILED)
        _exit(91);
    return page;
}
