/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The functions by which a server reads, waits and answers, in place of libc's.
 * Each calls the next definition exactly once, with its own arguments, and
 * returns what that returns. errno stays as that leaves it. No state is held
 * during the call, which may be cancelled.
 *
 * The names in C differ from those that the linker sees, so that no declaration
 * of a header conflicts.
 */

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

#include "shim/base/sys_call.h"
#include "shim/requests/next.h"
#include "shim/requests/whose.h"

#pragma weak __errno_location

#define INTERPOSE(type, name, parameters)                                      \
    __attribute__((visibility("default")))                                     \
    type otelctx_##name parameters __asm__(#name);                             \
    type otelctx_##name parameters

/* The next definition, or the system call where there is none (yet). */
#define NEXT(name, raw, ...)                                                   \
    __extension__({                                                            \
        __typeof__(&otelctx_##name) next_ = otelctx_next(OTELCTX_NEXT_##name); \
        next_ ? next_(__VA_ARGS__) : (__typeof__(next_(__VA_ARGS__)))raw;      \
    })
#define RAW(number, a, b, c, d, e, f)                                          \
    raw(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e),         \
        (long)(f))

static __attribute__((cold, noinline)) long raw(long number, long a, long b,
                                                long c, long d, long e, long f)
{
    const long result =
        number < 0 ? -ENOSYS : otelctx_syscall(number, a, b, c, d, e, f);

    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* ---- Reading ------------------------------------------------------------ */

/* Bytes that stay in the socket, or that are not of the stream. */
static bool is_aside(int flags)
{
    return flags & (MSG_PEEK | MSG_OOB | MSG_ERRQUEUE);
}

static ssize_t came(int fd, void *bytes, size_t size, int flags, ssize_t result)
{
    const struct iovec part = {bytes, size};

    if (flags & MSG_TRUNC)
        otelctx_whose_lost(fd);
    else if (result > 0 || (result == 0 && size > 0))
        otelctx_whose_read(fd, &part, (size_t)result);
    return result;
}

static inline bool reads(int fd, int flags)
{
    if (!otelctx_descriptor(fd) || is_aside(flags))
        return false;
    otelctx_whose_reads(fd);
    return true;
}

/* A function that reads into one piece of memory. */
#define READER(name, flags, parameters, raw, ...)                              \
    INTERPOSE(ssize_t, name, parameters)                                       \
    {                                                                          \
        const bool is_known = reads(fd, flags);                                \
        const ssize_t result = NEXT(name, raw, __VA_ARGS__);                   \
                                                                               \
        return is_known ? came(fd, at, size, flags, result) : result;          \
    }

READER(read, 0, (int fd, void *at, size_t size),
       RAW(SYS_read, fd, at, size, 0, 0, 0), fd, at, size)
READER(__read_chk, 0, (int fd, void *at, size_t size, size_t room),
       RAW(SYS_read, fd, at, size, 0, 0, 0), fd, at, size, room)
READER(recv, flags, (int fd, void *at, size_t size, int flags),
       RAW(SYS_recvfrom, fd, at, size, flags, 0, 0), fd, at, size, flags)
READER(__recv_chk, flags,
       (int fd, void *at, size_t size, size_t room, int flags),
       RAW(SYS_recvfrom, fd, at, size, flags, 0, 0), fd, at, size, room, flags)
READER(recvfrom, flags,
       (int fd, void *at, size_t size, int flags, void *from,
        socklen_t *from_size),
       RAW(SYS_recvfrom, fd, at, size, flags, from, from_size), fd, at, size,
       flags, from, from_size)
READER(__recvfrom_chk, flags,
       (int fd, void *at, size_t size, size_t room, int flags, void *from,
        socklen_t *from_size),
       RAW(SYS_recvfrom, fd, at, size, flags, from, from_size), fd, at, size,
       room, flags, from, from_size)

INTERPOSE(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
    const bool is_known = reads(fd, 0);
    const ssize_t result = NEXT(
        readv, RAW(SYS_readv, fd, parts, count, 0, 0, 0), fd, parts, count);

    if (is_known && result > 0)
        otelctx_whose_read(fd, parts, (size_t)result);
    return result;
}

INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
    const bool is_known = reads(fd, flags);
    const ssize_t result =
        NEXT(recvmsg, RAW(SYS_recvmsg, fd, message, flags, 0, 0, 0), fd,
             message, flags);

    if (is_known && result > 0 && flags & MSG_TRUNC)
        otelctx_whose_lost(fd);
    else if (is_known && result > 0)
        otelctx_whose_read(fd, message->msg_iov, (size_t)result);
    return result;
}

INTERPOSE(int, recvmmsg,
          (int fd, struct mmsghdr *messages, unsigned count, int flags,
           struct timespec *timeout))
{
    const bool is_known = reads(fd, flags);
    const int result = NEXT(
        recvmmsg, RAW(SYS_recvmmsg, fd, messages, count, flags, timeout, 0), fd,
        messages, count, flags, timeout);

    if (is_known && result > 0)
        otelctx_whose_lost(fd);
    return result;
}

/* ---- Answering ---------------------------------------------------------- */

static ssize_t wrote(int fd, const void *at, ssize_t result)
{
    if (result > 0 && otelctx_descriptor(fd))
        otelctx_whose_wrote(fd, at, at ? (size_t)result : 0);
    return result;
}

/* The last part has the end of the answer, if all was written. */
static ssize_t wrote_parts(int fd, const struct iovec *parts, size_t count,
                           ssize_t result)
{
    size_t left = (size_t)result;

    if (result <= 0 || !otelctx_descriptor(fd))
        return result;
    for (; count > 1 && parts->iov_len <= left; parts++, count--)
        left -= parts->iov_len;
    if (count == 1 && left > 0)
        otelctx_whose_wrote(fd, parts->iov_base, left);
    else
        otelctx_whose_wrote(fd, NULL, 0);
    return result;
}

INTERPOSE(ssize_t, write, (int fd, const void *at, size_t size))
{
    return wrote(
        fd, at,
        NEXT(write, RAW(SYS_write, fd, at, size, 0, 0, 0), fd, at, size));
}

INTERPOSE(ssize_t, send, (int fd, const void *at, size_t size, int flags))
{
    return wrote(fd, at,
                 NEXT(send, RAW(SYS_sendto, fd, at, size, flags, 0, 0), fd, at,
                      size, flags));
}

INTERPOSE(ssize_t, sendto,
          (int fd, const void *at, size_t size, int flags, const void *to,
           socklen_t to_size))
{
    return wrote(fd, at,
                 NEXT(sendto, RAW(SYS_sendto, fd, at, size, flags, to, to_size),
                      fd, at, size, flags, to, to_size));
}

INTERPOSE(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
    return wrote_parts(fd, parts, (size_t)count,
                       NEXT(writev, RAW(SYS_writev, fd, parts, count, 0, 0, 0),
                            fd, parts, count));
}

INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
    const ssize_t result =
        NEXT(sendmsg, RAW(SYS_sendmsg, fd, message, flags, 0, 0, 0), fd,
             message, flags);

    return result > 0
               ? wrote_parts(fd, message->msg_iov, message->msg_iovlen, result)
               : result;
}

INTERPOSE(ssize_t, sendfile, (int fd, int from, off_t *offset, size_t size))
{
    return wrote(fd, NULL,
                 NEXT(sendfile, RAW(SYS_sendfile, fd, from, offset, size, 0, 0),
                      fd, from, offset, size));
}

INTERPOSE(ssize_t, sendfile64, (int fd, int from, off_t *offset, size_t size))
{
    return wrote(fd, NULL,
                 NEXT(sendfile64,
                      RAW(SYS_sendfile, fd, from, offset, size, 0, 0), fd, from,
                      offset, size));
}

/* ---- The life of a descriptor ------------------------------------------- */

static int accepted(int fd)
{
    if (fd >= 0)
        otelctx_whose_accepted(fd);
    return fd;
}

INTERPOSE(int, accept, (int fd, void *from, socklen_t *size))
{
    otelctx_whose_accepts();
    return accepted(
        NEXT(accept, RAW(SYS_accept, fd, from, size, 0, 0, 0), fd, from, size));
}

INTERPOSE(int, accept4, (int fd, void *from, socklen_t *size, int flags))
{
    otelctx_whose_accepts();
    return accepted(NEXT(accept4, RAW(SYS_accept4, fd, from, size, flags, 0, 0),
                         fd, from, size, flags));
}

INTERPOSE(int, close, (int fd))
{
    if (otelctx_descriptor(fd))
        otelctx_whose_closes(fd, true);
    return NEXT(close, RAW(SYS_close, fd, 0, 0, 0, 0, 0), fd);
}

INTERPOSE(int, shutdown, (int fd, int how))
{
    if (how != SHUT_RD && otelctx_descriptor(fd))
        otelctx_whose_closes(fd, false);
    return NEXT(shutdown, RAW(SYS_shutdown, fd, how, 0, 0, 0, 0), fd, how);
}

INTERPOSE(int, epoll_ctl,
          (int set, int operation, int fd, struct epoll_event *event))
{
    const int result =
        NEXT(epoll_ctl, RAW(SYS_epoll_ctl, set, operation, fd, event, 0, 0),
             set, operation, fd, event);

    if (result == 0)
        otelctx_whose_watches(set, operation, fd, event ? event->events : 0);
    return result;
}

/* ---- Waiting ------------------------------------------------------------ */

/* A function that waits, after `first`. */
#define WAITER(name, first, parameters, raw, ...)                              \
    INTERPOSE(int, name, parameters)                                           \
    {                                                                          \
        first;                                                                 \
        return NEXT(name, raw, __VA_ARGS__);                                   \
    }

#ifndef SYS_epoll_pwait2 /* Linux 5.11 */
enum {
    SYS_epoll_pwait2 = 441
};
#endif
WAITER(epoll_wait, otelctx_whose_waits_set(set),
       (int set, struct epoll_event *events, int count, int timeout),
       RAW(SYS_epoll_pwait, set, events, count, timeout, 0, 8), set, events,
       count, timeout)
WAITER(epoll_pwait, otelctx_whose_waits_set(set),
       (int set, struct epoll_event *events, int count, int timeout,
        const sigset_t *signals),
       RAW(SYS_epoll_pwait, set, events, count, timeout, signals, 8), set,
       events, count, timeout, signals)
WAITER(epoll_pwait2, otelctx_whose_waits_set(set),
       (int set, struct epoll_event *events, int count,
        const struct timespec *timeout, const sigset_t *signals),
       RAW(SYS_epoll_pwait2, set, events, count, timeout, signals, 8), set,
       events, count, timeout, signals)

static void waits_poll(const struct pollfd *fds, nfds_t count)
{
    if (!otelctx_whose_shows() || !fds)
        return;
    for (nfds_t i = 0; i < count; i++)
        otelctx_whose_waits(fds[i].fd, fds[i].events & POLLIN, count == 1);
}

#ifndef SYS_poll /* aarch64 */
enum {
    SYS_poll = -1,
    SYS_select = -1
};
#endif
WAITER(poll, waits_poll(fds, count),
       (struct pollfd * fds, nfds_t count, int timeout),
       RAW(SYS_poll, fds, count, timeout, 0, 0, 0), fds, count, timeout)
WAITER(__poll_chk, waits_poll(fds, count),
       (struct pollfd * fds, nfds_t count, int timeout, size_t room),
       RAW(SYS_poll, fds, count, timeout, 0, 0, 0), fds, count, timeout, room)
WAITER(ppoll, waits_poll(fds, count),
       (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
        const sigset_t *signals),
       RAW(-1, 0, 0, 0, 0, 0, 0), fds, count, timeout, signals)
WAITER(__ppoll_chk, waits_poll(fds, count),
       (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
        const sigset_t *signals, size_t room),
       RAW(-1, 0, 0, 0, 0, 0, 0), fds, count, timeout, signals, room)

static void waits_select(int count, const fd_set *to_read,
                         const fd_set *to_write)
{
    if (!otelctx_whose_shows())
        return;
    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        const bool reads = to_read && FD_ISSET(fd, to_read);

        if (reads || (to_write && FD_ISSET(fd, to_write)))
            otelctx_whose_waits(fd, reads, true);
    }
}

WAITER(select, waits_select(count, to_read, to_write),
       (int count, fd_set *to_read, fd_set *to_write, fd_set *others,
        struct timeval *timeout),
       RAW(SYS_select, count, to_read, to_write, others, timeout, 0), count,
       to_read, to_write, others, timeout)
WAITER(pselect, waits_select(count, to_read, to_write),
       (int count, fd_set *to_read, fd_set *to_write, fd_set *others,
        const struct timespec *timeout, const sigset_t *signals),
       RAW(-1, 0, 0, 0, 0, 0, 0), count, to_read, to_write, others, timeout,
       signals)
