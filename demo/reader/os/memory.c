/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/memory.h"

#include "demo/reader/os/helper.h"
#include "demo/reader/os/query.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* EIO means no mapping, 0 a dead address space, EINVAL a bad address. */
static int read_by_file(struct otelread_target *target, uint64_t address,
                        void *out, size_t size)
{
    if (target->memory < 0) {
        const int fd = otelread_target_file(target, "mem");

        if (fd < 0)
            return fd;
        target->memory = fd;
    }
    if (address > INT64_MAX)
        return -EFAULT;

    const ssize_t got = pread(target->memory, out, size, (off_t)address);
    if (got < 0 && errno == ESRCH)
        return -ESRCH;
    return got >= 0 && (size_t)got == size ? 0 : -EFAULT;
}

/* ---- by the helper ------------------------------------------------------ */

static int read_may_wait(struct otelread_target *target, uint64_t address,
                         void *out, size_t size)
{
    const struct iovec local = {.iov_base = out, .iov_len = size};
    const struct iovec remote = {.iov_base = (void *)(uintptr_t)address,
                                 .iov_len = size};

    if (target->by_file)
        return read_by_file(target, address, out, size);
    const ssize_t got =
        process_vm_readv(target->task, &local, 1, &remote, 1, 0);
    if (got >= 0)
        return (size_t)got == size ? 0 : -EFAULT;
    if (errno == ESRCH)
        return -ESRCH;
    if (errno != ENOSYS && errno != EPERM)
        return -EFAULT;

    /* EPERM, too: sandboxes forbid the call, but allow the file. */
    target->by_file = true;
    target->memory = -1;
    return read_by_file(target, address, out, size);
}

struct span {
    uint64_t address;
    size_t size;
};

static int span_read(struct otelread_target *target, const void *request,
                     void *answer)
{
    const struct span *const span = request;

    return read_may_wait(target, span->address, answer, span->size);
}

/* ---- by the reader ------------------------------------------------------ */

/* A read that failed when it was fetched fails, and is not postponed again. */
static int note_missing(struct otelread_target *target, uint64_t address,
                        size_t size)
{
    struct otelread_missing *const missing = &target->missing;

    if (missing->address != address || missing->size != size ||
        missing->error == 0)
        *missing = (struct otelread_missing){address, size, -EAGAIN};
    return missing->error;
}

static void memory_open(struct otelread_target *target)
{
    if (target->opened)
        return;
    target->resident.pagemap = 0;
    target->resident.memory = otelread_target_file(target, "mem");
    target->by_directory = target->directory > 0;
    target->opened = true;
}

void otelread_memory_prepare(struct otelread_target *target)
{
    memory_open(target);
    if (target->resident.pagemap == 0)
        target->resident.pagemap = otelread_target_file(target, "pagemap");
}

static int read_resident(struct otelread_target *target, uint64_t address,
                         void *out, size_t size)
{
    otelread_memory_prepare(target);
    const int error =
        otelread_resident_read(&target->resident, address, out, size);
    if (error == -EFAULT && otelread_target_check(target) != 0)
        return -ESRCH;
    return error;
}

/*
 * Where the kernel does not tell which pages are resident, a stopped thread is
 * read all the same.
 */
static bool cannot_tell_resident(struct otelread_target *target)
{
    if (!target->only_resident)
        return false;
    otelread_memory_prepare(target);
    return target->resident.pagemap < 0 || target->resident.memory < 0;
}

/* process_vm_readv(2), which the helper calls, respects protection. */
static int ask_helper(struct otelread_target *target, uint64_t address,
                      void *out, size_t size)
{
    const struct span span = {address, size};

    return otelread_helper_ask(target, span_read, &span, sizeof(span), out,
                               size);
}

int otelread_memory_read(struct otelread_target *target, uint64_t address,
                         void *out, size_t size)
{
    if (address > UINTPTR_MAX)
        return -EFAULT;
    if (target->may_wait || cannot_tell_resident(target))
        return read_may_wait(target, address, out, size);

    const int error = read_resident(target, address, out, size);
    if (error != -EAGAIN)
        return error;
    if (target->only_resident)
        return note_missing(target, address, size);
    return ask_helper(target, address, out, size);
}

int otelread_memory_peek(struct otelread_target *target, uint64_t address,
                         void *out, size_t size)
{
    otelread_memory_prepare(target);
    return otelread_resident_read(&target->resident, address, out, size);
}

int otelread_memory_read_mapping(struct otelread_target *target,
                                 const struct otelread_mapping *mapping,
                                 uint64_t address, void *out, size_t size)
{
    if (mapping->in_memory && !target->may_wait) {
        memory_open(target);
        if (otelread_resident_copy(&target->resident, address, out, size) == 0)
            return 0;
    }
    return otelread_memory_read(target, address, out, size);
}

int otelread_memory_read_unprotected(struct otelread_target *target,
                                     uint64_t address, void *out, size_t size)
{
    const int fd = otelread_target_maps(target);

    if (fd < 0)
        return fd;
    const int readable = otelread_query_is_readable(fd, address, size);
    (void)close(fd);
    if (readable == 0)
        return -EFAULT;
    return readable > 0 ? otelread_memory_read(target, address, out, size)
                        : ask_helper(target, address, out, size);
}

void otelread_memory_fetch(struct otelread_target *target)
{
    struct otelread_missing *const missing = &target->missing;
    char bytes[1024]; /* a record, or less */
    const bool only_resident = target->only_resident;

    target->only_resident = false;
    missing->error = missing->size > sizeof(bytes)
                         ? -EFAULT
                         : otelread_memory_read(target, missing->address, bytes,
                                                missing->size);
    target->only_resident = only_resident;
}

bool otelread_memory_is_gone(const struct otelread_target *target)
{
    return target->opened && target->resident.memory >= 0 &&
           otelread_resident_is_gone(&target->resident);
}
