/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Which connection the calling thread works for. State by descriptor is in a
 * table of fixed size, state by thread in TLS. No allocation, and no thread
 * waits for another: what two threads, or a thread and its signal handler,
 * would change at once is not followed any further. All functions keep errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "shim/base/compiler.h"
#include "shim/base/tls_offset.h" /* for a compiler without TLSDESC */
#include "shim/requests/shown.h"

/* What is known of a descriptor: bits. */
enum {
    OTELCTX_ACCEPTED = 1, /* a client's connection */
    OTELCTX_WATCHED = 2,  /* in a set of epoll, or polled with connections */
    OTELCTX_EPOLL = 4,    /* a set of epoll itself */
    OTELCTX_ANSWERED = 8  /* an answer was sent to the latest request */
};

extern uint8_t otelctx_known[OTELCTX_DESCRIPTORS];

OTELCTX_INLINE uint8_t otelctx_descriptor(int fd)
{
    return (unsigned)fd < OTELCTX_DESCRIPTORS
               ? __atomic_load_n(&otelctx_known[fd], __ATOMIC_RELAXED)
               : 0;
}

/* A descriptor that accept(2) returned. */
void otelctx_whose_accepted(int fd);

/* Does the calling thread show a request? */
bool otelctx_whose_shows(void);

/* Before and after a known descriptor is read: `size` bytes came; 0 is the end
 * of the connection. */
void otelctx_whose_reads(int fd);
void otelctx_whose_read(int fd, const struct iovec *parts, size_t size);
/* The bytes were read, but are not in memory. */
void otelctx_whose_lost(int fd);

/* After something was written to a known descriptor; `end` has the last bytes
 * of it. */
void otelctx_whose_wrote(int fd, const void *end, size_t size);

/* A known descriptor is closed, or shut down (`closes` false). */
void otelctx_whose_closes(int fd, bool closes);

/* epoll_ctl(2). `events` are those that are waited for. */
void otelctx_whose_watches(int set, int operation, int fd, uint32_t events);

/* The thread waits: for events of a set of epoll; or for one descriptor of
 * `count`, each of which is told in turn, `reads` whether to read from it; or
 * for a new connection. */
void otelctx_whose_waits_set(int set);
void otelctx_whose_waits(int fd, bool reads, bool alone);
void otelctx_whose_accepts(void);
