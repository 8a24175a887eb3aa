/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_SYS_H
#define OTELCTX_SYS_H

/*
 * The only system calls. They bypass libc, and so errno, cancellation and
 * whatever else has interposed libc's. All return 0 (or a count, or a
 * descriptor) or -errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "shim/sys_call.h"

#ifndef PR_SET_VMA /* Linux 5.17 */
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* A sealable, close-on-exec memfd; seal_noexec needs Linux 6.3. */
int otelctx_sys_memfd(const char *name, bool seal_noexec);
int otelctx_sys_truncate(int fd, size_t size);
int otelctx_sys_close(int fd);

/* RLIMIT_FSIZE: truncating beyond it kills the process by SIGXFSZ. */
int otelctx_sys_file_size_limit(uint64_t *out);

/* Private memory, of a file (populated at once) or anonymous when fd is -1. */
int otelctx_sys_map(size_t size, int fd, void **out);
int otelctx_sys_unmap(void *at, size_t size);
/* What a child finds there: nothing, or a copy after all; zeroes, or a copy. */
int otelctx_sys_dont_fork(void *at, size_t size);
int otelctx_sys_do_fork(void *at, size_t size);
int otelctx_sys_wipe_on_fork(void *at, size_t size);
int otelctx_sys_keep_on_fork(void *at, size_t size);
int otelctx_sys_protect(void *at, size_t size, bool writable);

/* PR_SET_VMA_ANON_NAME; readers hook it and compare the name. What returns
 * after a system call is slow, on machines with SRSO, so this one is made where
 * it is asked for. */
OTELCTX_INLINE int otelctx_sys_name(void *at, size_t size, const char *name)
{
    return (int)otelctx_syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME,
                                (long)at, (long)size, (long)name, 0);
}

/* Whatever the host asks of prctl. */
int otelctx_sys_prctl(int option, const unsigned long args[4]);

/* The seccomp mode, SECCOMP_MODE_*; 0 also when the kernel knows none. */
int otelctx_sys_seccomp(void);

/* Are there 8 bytes to be read at this multiple of 8? */
bool otelctx_sys_readable(const void *at);

int otelctx_sys_boottime(uint64_t *out_ns);

/* Never blocks; -EAGAIN: too early at boot, on a kernel before 5.6. */
int otelctx_sys_random(void *out, size_t size);

/* A regular file's descriptor; never blocks. -EINVAL: another kind of file. */
int otelctx_sys_open_file(const char *path);
/* Any file of /proc. */
int otelctx_sys_open_proc(const char *path);
/* Up to `size` bytes, fewer only at the end of the file. */
long otelctx_sys_read(int fd, char *out, size_t size);
/* What is there at once, at most `size` bytes. */
long otelctx_sys_read_some(int fd, char *out, size_t size);
long otelctx_sys_executable(char *out, size_t size);

/* What tells one open file from another. */
struct otelctx_file_id {
    uint64_t device, inode;
};
int otelctx_sys_file_id(int fd, struct otelctx_file_id *out);

int otelctx_sys_pid(void);

/* Never blocks, and no signal that it raises gets through. */
void otelctx_sys_write_stderr(const char *text, size_t size);

/*
 * Wait while the 32 bits at `word` are `value`. Returns 0 after a wake, -EAGAIN
 * (they are another value), -EINTR, or -ETIMEDOUT after a millisecond.
 */
int otelctx_sys_futex_wait(void *word, uint32_t value);
/* Wakes all. */
void otelctx_sys_futex_wake(void *word);

#endif
