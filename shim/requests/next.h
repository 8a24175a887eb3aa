/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The functions that this library defines, and where the next definitions are:
 * libc's, or those of a library loaded after this one. */

#define OTELCTX_INTERPOSED(X)                                                  \
    X(read)                                                                    \
    X(readv)                                                                   \
    X(recv)                                                                    \
    X(recvfrom)                                                                \
    X(recvmsg)                                                                 \
    X(recvmmsg)                                                                \
    X(__read_chk)                                                              \
    X(__recv_chk)                                                              \
    X(__recvfrom_chk)                                                          \
    X(write)                                                                   \
    X(writev)                                                                  \
    X(send)                                                                    \
    X(sendto)                                                                  \
    X(sendmsg)                                                                 \
    X(sendfile)                                                                \
    X(sendfile64)                                                              \
    X(accept)                                                                  \
    X(accept4)                                                                 \
    X(close)                                                                   \
    X(shutdown)                                                                \
    X(epoll_ctl)                                                               \
    X(epoll_wait)                                                              \
    X(epoll_pwait)                                                             \
    X(epoll_pwait2)                                                            \
    X(poll)                                                                    \
    X(ppoll)                                                                   \
    X(__poll_chk)                                                              \
    X(__ppoll_chk)                                                             \
    X(select)                                                                  \
    X(pselect)

#define OTELCTX_NUMBER_(name) OTELCTX_NEXT_##name,
enum otelctx_next {
    OTELCTX_INTERPOSED(OTELCTX_NUMBER_) OTELCTX_NEXT_COUNT
};
#undef OTELCTX_NUMBER_

extern void *otelctx_next_found[OTELCTX_NEXT_COUNT];

/* For a call before the constructor. NULL: none is found, or the dynamic linker
 * calls because it is asked to find it. */
void *otelctx_next_find(enum otelctx_next which);

static inline void *otelctx_next(enum otelctx_next which)
{
    void *found = __atomic_load_n(&otelctx_next_found[which], __ATOMIC_RELAXED);

    return __builtin_expect(found != 0, 1) ? found : otelctx_next_find(which);
}
