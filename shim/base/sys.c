/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* The headers of the oldest supported build systems lack these. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC       0x1U
#define MFD_ALLOW_SEALING 0x2U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x8U
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif
#ifndef GRND_NONBLOCK
#define GRND_NONBLOCK 0x1U
#endif
#ifndef GRND_INSECURE
#define GRND_INSECURE 0x4U
#endif

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    return otelctx_syscall(number, a, b, c, d, e, f);
}

static long call0(long number)
{
    return call(number, 0, 0, 0, 0, 0, 0);
}

static long call1(long number, long a)
{
    return call(number, a, 0, 0, 0, 0, 0);
}

static long call2(long number, long a, long b)
{
    return call(number, a, b, 0, 0, 0, 0);
}

static long call3(long number, long a, long b, long c)
{
    return call(number, a, b, c, 0, 0, 0);
}

static long call4(long number, long a, long b, long c, long d)
{
    return call(number, a, b, c, d, 0, 0);
}

int otelctx_sys_memfd(const char *name, bool seal_noexec)
{
    const unsigned flags =
        MFD_CLOEXEC | MFD_ALLOW_SEALING | (seal_noexec ? MFD_NOEXEC_SEAL : 0);

    return (int)call2(SYS_memfd_create, (long)name, flags);
}

int otelctx_sys_truncate(int fd, size_t size)
{
    return (int)call2(SYS_ftruncate, fd, (long)size);
}

int otelctx_sys_close(int fd)
{
    return (int)call1(SYS_close, fd);
}

int otelctx_sys_file_size_limit(uint64_t *out)
{
    uint64_t limit[2] = {0}; /* soft, hard */
    const int err = (int)call4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit);

    if (!err)
        *out = limit[0];
    return err;
}

int otelctx_sys_map(size_t size, int fd, void **out)
{
    /* MAP_POPULATE would take longer than the page fault that it saves. */
    const int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
    const long at =
        call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (at < 0 && at > -4096)
        return (int)at;
    *out = (void *)at;
    return 0;
}

int otelctx_sys_map_reserved(size_t size, void **out)
{
    const long at = call(SYS_mmap, 0, (long)size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at < 0 && at > -4096)
        return (int)at;
    *out = (void *)at;
    return 0;
}

int otelctx_sys_unmap(void *at, size_t size)
{
    return (int)call2(SYS_munmap, (long)at, (long)size);
}

static int advise(void *at, size_t size, int advice)
{
    return (int)call3(SYS_madvise, (long)at, (long)size, advice);
}

int otelctx_sys_dont_fork(void *at, size_t size)
{
    return advise(at, size, MADV_DONTFORK);
}

int otelctx_sys_do_fork(void *at, size_t size)
{
    return advise(at, size, MADV_DOFORK);
}

int otelctx_sys_wipe_on_fork(void *at, size_t size)
{
    return advise(at, size, MADV_WIPEONFORK);
}

int otelctx_sys_keep_on_fork(void *at, size_t size)
{
    return advise(at, size, MADV_KEEPONFORK);
}

int otelctx_sys_no_huge_pages(void *at, size_t size)
{
    return advise(at, size, MADV_NOHUGEPAGE);
}

int otelctx_sys_discard(void *at, size_t size)
{
    return advise(at, size, MADV_DONTNEED);
}

int otelctx_sys_protect(void *at, size_t size, bool writable)
{
    return (int)call3(SYS_mprotect, (long)at, (long)size,
                      writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

int otelctx_sys_prctl(int option, const unsigned long args[4])
{
    return (int)call(SYS_prctl, option, (long)args[0], (long)args[1],
                     (long)args[2], (long)args[3], 0);
}

bool otelctx_sys_tsc_faults(void)
{
    int mode = PR_TSC_ENABLE;

    return call2(SYS_prctl, PR_GET_TSC, (long)&mode) == 0 &&
           mode == PR_TSC_SIGSEGV;
}

bool otelctx_sys_is_on_signal_stack(void)
{
    stack_t stack = {0};

    return call2(SYS_sigaltstack, 0, (long)&stack) == 0 &&
           stack.ss_flags & SS_ONSTACK;
}

int otelctx_sys_seccomp(void)
{
    const int mode = (int)call1(SYS_prctl, PR_GET_SECCOMP);

    return mode < 0 ? 0 : mode;
}

bool otelctx_sys_no_new_privileges(void)
{
    return call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1;
}

/* A requeue of no waiters only compares: 0 when the 32 bits there are `value`,
 * -EAGAIN when not, -EFAULT when they cannot be read. Every sandbox allows this
 * call, and valgrind has nothing to say of it. */
static long compare(const void *at, uint32_t value)
{
    return call(SYS_futex, (long)at, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)at,
                (long)value);
}

bool otelctx_sys_readable(const void *at)
{
    return at && compare(at, 0) != -EFAULT;
}

bool otelctx_sys_holds(const void *at, uint32_t value)
{
    const long err = compare(at, value);

    return err != -EAGAIN && err != -EFAULT && err != -EINVAL;
}

int otelctx_sys_random(void *out, size_t size)
{
    long got = call3(SYS_getrandom, (long)out, (long)size, GRND_NONBLOCK);

    if (got == -EAGAIN)
        got = call3(SYS_getrandom, (long)out, (long)size, GRND_INSECURE);
    if (got < 0)
        return got == -EINVAL ? -EAGAIN : (int)got;
    return (size_t)got == size ? 0 : -EAGAIN;
}

int otelctx_sys_boottime(uint64_t *out_ns)
{
    struct timespec now = {0};
    const int err = (int)call2(SYS_clock_gettime, CLOCK_BOOTTIME, (long)&now);

    if (!err)
        *out_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return err;
}

static int open_to_read(const char *path, int flags)
{
    long fd;

    do
        fd = call4(SYS_openat, AT_FDCWD, (long)path,
                   O_RDONLY | O_CLOEXEC | flags, 0);
    while (fd == -EINTR);
    return (int)fd;
}

int otelctx_sys_open_file(const char *path, bool *has_text)
{
    struct stat status = {0};
    const int fd = open_to_read(path, O_NONBLOCK | O_NOCTTY);
    long err;

    if (fd < 0)
        return fd;
    err = call2(SYS_fstat, fd, (long)&status);
    if (!err && !S_ISREG(status.st_mode))
        err = -EINVAL;
    *has_text = status.st_size > 0;
    if (err)
        (void)otelctx_sys_close(fd);
    return err ? (int)err : fd;
}

int otelctx_sys_open_proc(const char *path)
{
    return open_to_read(path, 0);
}

long otelctx_sys_read_some(int fd, char *out, size_t size)
{
    long got;

    do
        got = call3(SYS_read, fd, (long)out, (long)size);
    while (got == -EINTR);
    return got;
}

long otelctx_sys_read(int fd, char *out, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const long got = otelctx_sys_read_some(fd, out + done, size - done);

        if (got < 0)
            return got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (long)done;
}

long otelctx_sys_executable(char *out, size_t size)
{
    return call4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)out,
                 (long)size);
}

int otelctx_sys_file_id(int fd, struct otelctx_file_id *out)
{
    struct stat status = {0};
    const int err = (int)call2(SYS_fstat, fd, (long)&status);

    *out = (struct otelctx_file_id){status.st_dev, status.st_ino,
                                    S_ISREG(status.st_mode)};
    return err;
}

bool otelctx_sys_appends(int fd)
{
    const long flags = call2(SYS_fcntl, fd, F_GETFL);

    return flags >= 0 && (flags & O_APPEND);
}

int otelctx_sys_pid(void)
{
    return (int)call0(SYS_getpid);
}

int otelctx_sys_thread(void)
{
    return (int)call0(SYS_gettid);
}

bool otelctx_sys_has_thread(int id)
{
    return call3(SYS_tgkill, otelctx_sys_pid(), id, 0) != -ESRCH;
}

/* A set of one signal, in the layout of the kernel's sigset_t. */
static uint64_t set_of(int number)
{
    return (uint64_t)1 << (number - 1);
}

void otelctx_sys_write_stderr(const char *text, size_t size)
{
    /* What a write raises to a pipe without a reader, at RLIMIT_FSIZE, and to
     * a terminal that stops background jobs. */
    const uint64_t raised = set_of(SIGPIPE) | set_of(SIGXFSZ) | set_of(SIGTTOU);
    const struct timespec no_wait = {0};
    struct pollfd ready = {.fd = 2, .events = POLLOUT};
    uint64_t mask_before = 0, pending_before = raised, ours;

    if (call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&raised, (long)&mask_before,
              sizeof(raised)))
        return;
    /* A pipe without a reader polls as POLLOUT | POLLERR: not written to. */
    if (call2(SYS_rt_sigpending, (long)&pending_before,
              sizeof(pending_before)) == 0 &&
        call(SYS_ppoll, (long)&ready, 1, (long)&no_wait, 0, 0, 0) == 1 &&
        ready.revents == POLLOUT)
        (void)call3(SYS_write, 2, (long)text, (long)size);
    /* Discard what the write raised, but nothing that was pending before. */
    ours = raised & ~pending_before;
    while (call4(SYS_rt_sigtimedwait, (long)&ours, 0, (long)&no_wait,
                 sizeof(ours)) > 0)
        ;
    (void)call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask_before, 0,
                sizeof(mask_before));
}

int otelctx_sys_futex_wait(void *word, uint32_t value)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};

    return (int)call4(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value,
                      (long)&millisecond);
}

void otelctx_sys_futex_wake(void *word)
{
    (void)call3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX);
}
