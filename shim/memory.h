/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_MEMORY_H
#define OTELCTX_MEMORY_H

/*
 * The memory of the process context. It has two parts: one that the kernel
 * wipes in a forked child, and one that a child inherits. It is part of .bss,
 * so that nothing has to be mapped when it is needed.
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

/* The largest page there is. */
enum {
#ifdef __x86_64__
    OTELCTX_WIPED_SIZE = 4096
#else
    OTELCTX_WIPED_SIZE = 65536
#endif
};

extern union otelctx_memory {
    _Alignas(OTELCTX_WIPED_SIZE) struct otelctx_wiped wiped;
    char scratch[OTELCTX_WIPED_SIZE]; /* behind that */
} otelctx_memory __attribute__((visibility("hidden")));

/* What a child inherits. */
extern struct otelctx_keys otelctx_memory_keys
    __attribute__((visibility("hidden")));
extern struct otelctx_payload otelctx_memory_version[3]
    __attribute__((visibility("hidden")));
extern char otelctx_memory_scratch[OTELCTX_PAYLOAD_MAX]
    __attribute__((visibility("hidden")));

/* Bytes; 0 until somebody has begun to use it. */
extern uint64_t otelctx_memory_page_size __attribute__((visibility("hidden")));

OTELCTX_INLINE bool otelctx_memory_is_used(void)
{
    return otelctx_load_acquire(&otelctx_memory_page_size) != 0;
}

/* Begin to. Returns 0 or -EBUSY: a signal handler interrupted who does. */
OTELCTX_RARE int otelctx_memory_begin(void);

/* In a child where nobody has begun: nor will a thread of its parent's. */
void otelctx_memory_begin_child(void);

/* Does the kernel wipe nothing? So before Linux 4.14. */
extern bool otelctx_memory_outlives_fork __attribute__((visibility("hidden")));

/* Then do so in a child. */
OTELCTX_RARE void otelctx_memory_notice_fork(void);

/* The first thing of all in a child: wipe, whatever the kernel did. */
void otelctx_memory_wipe(void);

/* In a child that has a copy of everything: make it the child's. */
void otelctx_memory_adopt(void);

/* Let a child have a copy of everything, or, as it was, only of some. */
void otelctx_memory_pass(bool to_child);

#endif
