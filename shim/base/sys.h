/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Every system call that the shim makes. They bypass libc: they do not touch
 * errno, are no cancellation points, and cannot be interposed by another
 * library. Unless a comment says otherwise, they return 0 (or a count, or a
 * descriptor) or -errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "shim/base/sys_call.h"

#ifndef PR_SET_VMA /* Linux 5.17 */
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Create a memfd that allows sealing and is closed on exec. seal_noexec
 * (MFD_NOEXEC_SEAL) needs Linux 6.3. */
int otelctx_sys_memfd(const char *name, bool seal_noexec);
int otelctx_sys_truncate(int fd, size_t size);
int otelctx_sys_close(int fd);

/* The soft RLIMIT_FSIZE, in bytes. ftruncate(2) beyond it raises SIGXFSZ. */
int otelctx_sys_file_size_limit(uint64_t *out);

/* Map private memory: of a file, or anonymous if fd is -1. */
int otelctx_sys_map(size_t size, int fd, void **out);
/* Map private anonymous memory that cannot be accessed, and of which the system
 * sets no memory aside until it is touched. */
int otelctx_sys_map_reserved(size_t size, void **out);
int otelctx_sys_unmap(void *at, size_t size);

/* madvise(2): a forked child inherits the memory (do_fork, keep_on_fork), finds
 * it unmapped (dont_fork) or finds zeroes (wipe_on_fork). */
int otelctx_sys_dont_fork(void *at, size_t size);
int otelctx_sys_do_fork(void *at, size_t size);
int otelctx_sys_wipe_on_fork(void *at, size_t size);
int otelctx_sys_keep_on_fork(void *at, size_t size);
/* madvise(2): no huge pages; and give the pages back, so that anonymous memory
 * is zero again. */
int otelctx_sys_no_huge_pages(void *at, size_t size);
int otelctx_sys_discard(void *at, size_t size);
int otelctx_sys_protect(void *at, size_t size, bool writable);

/* Name a mapping (PR_SET_VMA_ANON_NAME). Some readers hook this call and
 * compare the name. Inline, because on processors with the SRSO mitigation each
 * function return after a system call is slow. */
OTELCTX_INLINE int otelctx_sys_name(void *at, size_t size, const char *name)
{
    return (int)otelctx_syscall(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME,
                                (long)at, (long)size, (long)name, 0);
}

/* Any prctl(2) call of the host. */
int otelctx_sys_prctl(int option, const unsigned long args[4]);

/* Does reading the processor's time-stamp counter, as the vDSO's clock does,
 * raise SIGSEGV (PR_TSC_SIGSEGV)? */
bool otelctx_sys_tsc_faults(void);

/* Does the calling thread run on its alternate signal stack? */
bool otelctx_sys_is_on_signal_stack(void);

/* The seccomp mode, SECCOMP_MODE_*; 0 on a kernel without seccomp, too. */
int otelctx_sys_seccomp(void);
/* Whether PR_SET_NO_NEW_PRIVS was called, here or before execve(2). */
bool otelctx_sys_no_new_privileges(void);

/* Can 8 bytes be read at this address, which is a multiple of 8? */
bool otelctx_sys_readable(const void *at);

/* Are the 32 bits there `value`? Unlike a load this may be asked of memory that
 * another thread unmaps. True also where a filter refuses to tell. */
bool otelctx_sys_holds(const void *at, uint32_t value);

int otelctx_sys_boottime(uint64_t *out_ns);

/* Fill *out with random bytes. Never blocks; returns -EAGAIN if the kernel,
 * before 5.6, has not gathered enough entropy since it booted. */
int otelctx_sys_random(void *out, size_t size);

/*
 * Open a regular file for reading; never blocks. Returns -EINVAL for another
 * kind of file.
 *
 * has_text  false for a file of size 0. Do not read such a file: it may be one
 *           that the kernel generates on reading, like /proc/kmsg or tracefs'
 *           trace_pipe, and reading those takes messages from other readers.
 */
int otelctx_sys_open_file(const char *path, bool *has_text);
/* Open a file of /proc for reading. */
int otelctx_sys_open_proc(const char *path);
/* Read `size` bytes, or fewer if the file ends before. */
long otelctx_sys_read(int fd, char *out, size_t size);
/* Read what one read(2) gives, at most `size` bytes. */
long otelctx_sys_read_some(int fd, char *out, size_t size);
/* Read the link /proc/self/exe; the path does not end in a NUL. */
long otelctx_sys_executable(char *out, size_t size);

/* Identifies a file: two descriptors of the same file have the same id. */
struct otelctx_file_id {
    uint64_t device, inode;
    bool is_regular;
};
int otelctx_sys_file_id(int fd, struct otelctx_file_id *out);
/* Is the descriptor open, with O_APPEND? */
bool otelctx_sys_appends(int fd);

int otelctx_sys_pid(void);
/* The id of the calling thread. */
int otelctx_sys_thread(void);
/* Does this process have a thread of that id? True also if a filter refuses to
 * tell. */
bool otelctx_sys_has_thread(int id);

/* Write to descriptor 2 if that does not block; discards the signals that the
 * write raises. */
void otelctx_sys_write_stderr(const char *text, size_t size);

/*
 * Sleep until a wake, if the first 32 bits at `word` equal `value`. Returns 0
 * after a wake, -EAGAIN (not equal), -EINTR, or -ETIMEDOUT after a millisecond.
 */
int otelctx_sys_futex_wait(void *word, uint32_t value);
/* Wake all threads that sleep on `word`. */
void otelctx_sys_futex_wake(void *word);
