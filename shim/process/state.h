/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The memory of the process context, in two parts: the kernel wipes one in a
 * forked child, and a child inherits the other. Both are in .bss, so that the
 * shim need not map memory for them.
 */

#include "shim/base/lock.h"
#include "shim/base/order.h"
#include "shim/process/key_map.h"
#include "shim/process/payload.h"
#include "shim/process/publication.h"

/* State that a forked child must not inherit: all zero in a child. Only state.h
 * and state.c access it. */
struct otelctx_wiped {
    struct otelctx_lock lock;
    uint64_t pid;          /* where the kernel cannot wipe; else 0 */
    uint64_t fork_noticed; /* 0: a child that has not made a call yet */
    uint64_t has_own_id;   /* 0: the instance id may be the parent's */
    /* Forks by signal handlers that interrupted the owner of the lock: those
     * now in progress, and all since the start. */
    uint64_t handler_forks, handler_forks_ever;
    uint64_t vdso;   /* for otelctx_clock_read_fast() */
    bool is_resumed; /* a child that continues a call of its parent */
    uint64_t now_ns; /* the time for the lock's owner; 0: not read yet */
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

/* Temporary memory for the lock's owner: `size` bytes, at most
 * OTELCTX_PAYLOAD_MAX. */
char *otelctx_state_scratch(size_t size);

/* ---- First use ----------------------------------------------------------- */

/* In bytes; 0 until the state is first used. */
extern uint64_t otelctx_state_page_size __attribute__((visibility("hidden")));

OTELCTX_INLINE bool otelctx_state_is_used(void)
{
    return otelctx_load_acquire(&otelctx_state_page_size) != 0;
}

/* In a forked child of a process that does not use the state: release the lock
 * of a thread that was about to use the state and is not in the child. */
void otelctx_state_begin_unused_child(void);

/* ---- The lock, and what its owner uses ----------------------------------- */

/* Prepares the state at the first call. Returns 0 or -EBUSY: see
 * otelctx_lock(). */
int otelctx_state_lock(void);
void otelctx_state_unlock(void);

/* The same without waiting, in a process that already uses the state. */
int otelctx_state_try_lock(void);

OTELCTX_INLINE bool otelctx_state_is_locked_by_me(void)
{
    return otelctx_lock_is_mine(&otelctx_state.wiped.lock);
}

/* CLOCK_BOOTTIME in nanoseconds, read once for each lock. */
uint64_t otelctx_state_read_clock(void);

OTELCTX_INLINE uint64_t otelctx_state_now(void)
{
    const uint64_t now_ns = otelctx_state.wiped.now_ns;

    return now_ns ? now_ns : otelctx_state_read_clock();
}

/* Find the vDSO's clock again: restoring a process (CRIU) may move the vDSO. */
void otelctx_state_find_clock(void);

OTELCTX_INLINE struct otelctx_publication *otelctx_state_publication(void)
{
    return &otelctx_state.wiped.publication;
}

/* The system call that failed last. */
OTELCTX_INLINE struct otelctx_failure *otelctx_state_failure(void)
{
    return &otelctx_state.wiped.failure;
}

/* ---- A forked child ------------------------------------------------------ */

/* Is this a forked child that the shim has not noticed yet? */
OTELCTX_INLINE bool otelctx_state_is_new_child(void)
{
    return !otelctx_state.wiped.fork_noticed;
}

OTELCTX_INLINE void otelctx_state_notice_child(void)
{
    otelctx_state.wiped.fork_noticed = 1;
}

/* Is the instance id this process's own, rather than its parent's? */
OTELCTX_INLINE bool otelctx_state_has_own_id(void)
{
    return otelctx_state.wiped.has_own_id;
}

OTELCTX_INLINE void otelctx_state_set_own_id(bool own)
{
    otelctx_state.wiped.has_own_id = own;
}

/* Wipe what the kernel has not wiped, and unmap the inherited mapping:
 * user-mode emulators such as qemu ignore both requests. */
OTELCTX_RARE void otelctx_state_wipe_inherited(void);

/* ---- A fork by a signal handler that interrupted the owner of the lock ----
 */

/* Before and after the fork, in the parent: the child gets a copy of all state.
 */
OTELCTX_RARE void otelctx_state_begin_handler_fork(void);
OTELCTX_RARE void otelctx_state_end_handler_fork(void);

/* Is such a fork in progress? In its child this state is a copy. Exchange
 * rather than load: the wiped page then faults once, not twice. */
OTELCTX_INLINE bool otelctx_state_is_in_handler_fork(void)
{
    uint64_t none = 0;

    return !otelctx_compare_exchange(&otelctx_state.wiped.handler_forks, &none,
                                     0);
}

/* The number of such forks since the start. */
OTELCTX_INLINE uint64_t otelctx_state_handler_forks(void)
{
    return otelctx_load_acquire(&otelctx_state.wiped.handler_forks_ever);
}

/* In the child of such a fork: make the copy the child's own. */
OTELCTX_RARE void otelctx_state_adopt_copy(void);

/* Is this a child that continues a call which its parent began? */
OTELCTX_INLINE bool otelctx_state_is_resumed(void)
{
    return otelctx_state.wiped.is_resumed;
}

OTELCTX_INLINE void otelctx_state_set_resumed(bool is_resumed)
{
    otelctx_state.wiped.is_resumed = is_resumed;
}
