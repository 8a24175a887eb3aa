/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_STATE_H
#define OTELCTX_PROCESS_STATE_H

/*
 * The memory of the process context. It has two parts: one that the kernel
 * wipes in a forked child, and one that a child inherits. It is part of .bss,
 * so that nothing has to be mapped when it is needed.
 */

#include "shim/base/lock.h"
#include "shim/base/order.h"
#include "shim/process/key_map.h"
#include "shim/process/payload.h"
#include "shim/process/publication.h"

/* What must not outlive a fork. All zero in a child. Only state.h and state.c
 * touch it. */
struct otelctx_wiped {
    struct otelctx_lock lock;
    uint64_t pid;          /* where the kernel cannot wipe; else 0 */
    uint64_t fork_noticed; /* 0: a child that has not made a call yet */
    uint64_t has_own_id;   /* 0: it may still have its parent's instance id */
    /* Forks of signal handlers that interrupted the owner of the lock: those
     * under way, and how many there ever were. */
    uint64_t handler_forks, handler_forks_ever;
    uint64_t vdso;   /* for otelctx_clock_read_fast() */
    bool is_resumed; /* a child in the middle of a call of its parent's */
    uint64_t now_ns; /* of the call that has the lock; 0: not asked for yet */
    struct otelctx_failure failure; /* why nothing was shown */
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

extern union otelctx_state {
    _Alignas(OTELCTX_WIPED_SIZE) struct otelctx_wiped wiped;
    char scratch[OTELCTX_WIPED_SIZE]; /* behind that */
} otelctx_state __attribute__((visibility("hidden")));

/* What a child inherits. */
extern struct otelctx_key_map otelctx_state_key_map
    __attribute__((visibility("hidden")));
extern struct otelctx_payload otelctx_state_version[3]
    __attribute__((visibility("hidden")));

/* Memory that nothing else uses, of `size` bytes, at most OTELCTX_PAYLOAD_MAX.
 */
char *otelctx_state_scratch(size_t size);

/* ---- Begin --------------------------------------------------------------- */

/* Bytes; 0 until somebody has begun to use the state. */
extern uint64_t otelctx_state_page_size __attribute__((visibility("hidden")));

OTELCTX_INLINE bool otelctx_state_is_used(void)
{
    return otelctx_load_acquire(&otelctx_state_page_size) != 0;
}

/* In a forked child of a process that does not use the state: a thread that was
 * about to begin is not in the child. */
void otelctx_state_begin_unused_child(void);

/* ---- The lock, and what the call has that holds it ----------------------- */

/* Begins to use the state. Returns 0 or -EBUSY: see otelctx_lock(). */
int otelctx_state_lock(void);
void otelctx_state_unlock(void);

/* In a process that uses the state: the same without waiting. */
int otelctx_state_try_lock(void);

OTELCTX_INLINE bool otelctx_state_is_locked_by_me(void)
{
    return otelctx_lock_is_mine(&otelctx_state.wiped.lock);
}

/* CLOCK_BOOTTIME in nanoseconds, read once for all that one call does. */
uint64_t otelctx_state_read_clock(void);

OTELCTX_INLINE uint64_t otelctx_state_now(void)
{
    const uint64_t now_ns = otelctx_state.wiped.now_ns;

    return now_ns ? now_ns : otelctx_state_read_clock();
}

/* The clock of the vDSO may be elsewhere, in a process that was restored. */
void otelctx_state_find_clock(void);

OTELCTX_INLINE struct otelctx_publication *otelctx_state_publication(void)
{
    return &otelctx_state.wiped.publication;
}

/* What the system refused last. */
OTELCTX_INLINE struct otelctx_failure *otelctx_state_failure(void)
{
    return &otelctx_state.wiped.failure;
}

/* ---- A forked child ------------------------------------------------------ */

/* Has this process been forked, and nobody has noticed? */
OTELCTX_INLINE bool otelctx_state_is_new_child(void)
{
    return !otelctx_state.wiped.fork_noticed;
}

OTELCTX_INLINE void otelctx_state_notice_child(void)
{
    otelctx_state.wiped.fork_noticed = 1;
}

/* Is the instance id this process's own, and not its parent's? */
OTELCTX_INLINE bool otelctx_state_has_own_id(void)
{
    return otelctx_state.wiped.has_own_id;
}

OTELCTX_INLINE void otelctx_state_set_own_id(bool own)
{
    otelctx_state.wiped.has_own_id = own;
}

/* Where the kernel has wiped nothing, wipe. An emulator of user programs, such
 * as qemu's, lets a child inherit the mapping as well: it is unmapped. */
OTELCTX_RARE void otelctx_state_wipe_inherited(void);

/* ---- A fork by a signal handler that interrupted the owner of the lock ----
 */

/* Before and after the fork, in the parent: the child gets a copy of it all. */
OTELCTX_RARE void otelctx_state_begin_handler_fork(void);
OTELCTX_RARE void otelctx_state_end_handler_fork(void);

/* Is such a fork under way? In its child this state is a copy. Asked by a
 * store, because a wiped page is not there before, and is stored to anyway. */
OTELCTX_INLINE bool otelctx_state_is_in_handler_fork(void)
{
    uint64_t none = 0;

    return !otelctx_compare_exchange(&otelctx_state.wiped.handler_forks, &none,
                                     0);
}

/* How many such forks there were. */
OTELCTX_INLINE uint64_t otelctx_state_handler_forks(void)
{
    return otelctx_load_acquire(&otelctx_state.wiped.handler_forks_ever);
}

/* In its child: make the copy the child's own. */
OTELCTX_RARE void otelctx_state_adopt_copy(void);

/* Is this a child that will return into a call that its parent began? */
OTELCTX_INLINE bool otelctx_state_is_resumed(void)
{
    return otelctx_state.wiped.is_resumed;
}

OTELCTX_INLINE void otelctx_state_set_resumed(bool is_resumed)
{
    otelctx_state.wiped.is_resumed = is_resumed;
}

#endif
