/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/pointer.h"

#include "demo/reader/os/memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif

#if defined(__x86_64__)

/* One register: all of them take several times as long. */
int otelread_pointer_stopped(pid_t tid, uint64_t *pointer)
{
    errno = 0;
    *pointer = (uint64_t)ptrace(
        PTRACE_PEEKUSER, tid, offsetof(struct user_regs_struct, fs_base), NULL);
    return -errno;
}

/* In glibc the list's head is less than this behind the thread pointer. */
#define SCAN_SIZE ((uint64_t)4096)
#define WORD      sizeof(uint64_t)

/*
 * glibc's tcbhead_t begins with a pointer to itself, and has another one as
 * its third word. Returns 0, -ENOENT or -ETIMEDOUT.
 */
static int scan(struct otelread_target *target, uint64_t start, uint64_t end,
                uint64_t *pointer)
{
    uint64_t words[SCAN_SIZE / WORD];
    const size_t count = (end - start) / WORD;

    if (count < 3)
        return -ENOENT;
    const int error = otelread_memory_read(target, start, words, end - start);
    if (error != 0)
        return error == -ETIMEDOUT ? error : -ENOENT;
    for (size_t i = count - 2; i-- > 0;) {
        const uint64_t address = start + i * WORD;

        if (words[i] == address && words[i + 2] == address) {
            *pointer = address;
            return 0;
        }
    }
    return -ENOENT;
}

/*
 * The kernel knows the address of the list of robust mutexes. In glibc it is
 * part of struct pthread, where the thread pointer points. musl registers a
 * list only when one is needed.
 */
int otelread_pointer_running(struct otelread_target *target, pid_t tid,
                             uint64_t *pointer)
{
    uint64_t head = 0;
    size_t size = 0;

    if (syscall(SYS_get_robust_list, tid, &head, &size) != 0)
        return errno == ENOSYS ? -ENOENT : -errno;
    if (head % WORD != 0 || head < 2 * SCAN_SIZE)
        return -ENOENT;

    /* Two reads: the page before that of the head may not be mapped. */
    const uint64_t page = head - head % SCAN_SIZE;
    const int error = scan(target, page, head, pointer);
    if (error != -ENOENT)
        return error;
    return scan(target, head - SCAN_SIZE, head, pointer);
}

#else

#if defined(__aarch64__)

/* TPIDR_EL0, and TPIDR2_EL0 where there is one. */
int otelread_pointer_stopped(pid_t tid, uint64_t *pointer)
{
    struct iovec where = {.iov_base = pointer, .iov_len = sizeof(*pointer)};

    if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &where) != 0)
        return -errno;
    return where.iov_len == sizeof(*pointer) ? 0 : -ENOTSUP;
}

#else

int otelread_pointer_stopped(pid_t tid, uint64_t *pointer)
{
    (void)tid;
    (void)pointer;
    return -ENOTSUP;
}

#endif

/* No address that the kernel tells is at a fixed distance from TPIDR_EL0. */
int otelread_pointer_running(struct otelread_target *target, pid_t tid,
                             uint64_t *pointer)
{
    (void)target;
    (void)tid;
    (void)pointer;
    return -ENOENT;
}

#endif
