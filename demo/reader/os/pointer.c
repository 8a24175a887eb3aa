/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/pointer.h"

#include "demo/reader/os/memory.h"

#include <errno.h>
#include <linux/elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif

/* Returns 0 when the kernel returns exactly size bytes. */
static int registers_read(pid_t tid, int set, void *out, size_t size)
{
    struct iovec where = {.iov_base = out, .iov_len = size};

    if (ptrace(PTRACE_GETREGSET, tid, set, &where) != 0)
        return -errno;
    return where.iov_len == size ? 0 : -ENOTSUP;
}

#if defined(__x86_64__)

int otelread_pointer_stopped(pid_t tid, uint64_t *pointer)
{
    struct user_regs_struct registers;
    const int error =
        registers_read(tid, NT_PRSTATUS, &registers, sizeof(registers));

    if (error == 0)
        *pointer = registers.fs_base;
    return error;
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
    return registers_read(tid, NT_ARM_TLS, pointer, sizeof(*pointer));
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
