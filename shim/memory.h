/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_MEMORY_H
#define OTELCTX_MEMORY_H

/*
 * The memory of the process context, made when it is first needed. It has two
 * parts: one that the kernel wipes in a forked child, and one that a child
 * inherits.
 */

#include "shim/keys.h"
#include "shim/order.h"
#include "shim/payload.h"
#include "shim/publish.h"

/* What must not outlive a fork. All zero in a child. */
struct otelctx_wiped {
    uint64_t lock;
    uint64_t pid;        /* where the kernel cannot wipe; else 0 */
    uint64_t is_old;     /* not a child that has yet to notice that it is one */
    uint64_t has_own_id; /* not a child that may still have its parent's */
    /* Forks of signal handlers that interrupted whoever has the lock. */
    uint64_t forks;
    bool resumed;    /* a child in the middle of a call of its parent's */
    uint64_t now_ns; /* of the call that has the lock; 0: not asked for yet */
    const char *failed; /* the system call at fault when nothing was shown */
    struct otelctx_publication publication;
};

enum {
    OTELCTX_WIPED_SIZE = 65536 /* the largest page there is */
};

struct otelctx_memory {
    union {
        struct otelctx_wiped wiped; /* up to the end of this union */
        char scratch[OTELCTX_WIPED_SIZE];
    };
    struct otelctx_keys keys;
    struct otelctx_payload version[3]; /* the first begins in the same page */
    char large_scratch[OTELCTX_PAYLOAD_MAX];
};

extern uint64_t otelctx_memory_address __attribute__((visibility("hidden")));

/* NULL as long as nobody has needed it. */
OTELCTX_INLINE struct otelctx_memory *otelctx_memory(void)
{
    return (struct otelctx_memory *)(uintptr_t)otelctx_load_acquire(
        &otelctx_memory_address);
}

/* Returns 0, -ENOSYS (no page size is known) or what mmap said. */
OTELCTX_RARE int otelctx_memory_make(void);

/* Bytes; once there is memory. */
size_t otelctx_memory_page_size(void);

/* Does the kernel wipe it? Not before Linux 4.14. */
extern bool otelctx_memory_is_wiped __attribute__((visibility("hidden")));

/* Where it does not, do so in a child. */
OTELCTX_RARE void otelctx_memory_notice_fork(void);

/* The first thing of all in a child: wipe, whatever the kernel did. */
void otelctx_memory_wipe(void);

/* In a child that has a copy of everything: make it the child's. */
void otelctx_memory_adopt(void);

/* Let a child have a copy of everything, or, as it was, only of some. */
void otelctx_memory_pass(bool to_child);

#endif
