/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * A lock that records its owner, without a system call. A lock of all zeroes is
 * free: so is one in a page that the kernel wipes on fork.
 */
struct otelctx_lock {
    uint64_t word;  /* 0, or the owner's thread pointer */
    uint64_t frame; /* an address on the owner's stack; 0: not known */
};

/*
 * Returns 0, or -EBUSY in three cases:
 *  - the calling thread holds the lock: this is a signal handler that
 *    interrupted the owner, and it would wait for ever;
 *  - another thread has held the lock for a second without a break: that thread
 *    is in fork, where the atfork handler of another library may be waiting for
 *    a lock of the calling thread;
 *  - a seccomp filter refuses futex(2), so that no thread can wait.
 */
int otelctx_lock(struct otelctx_lock *lock);
void otelctx_unlock(struct otelctx_lock *lock);

/* The same without waiting: -EBUSY whoever holds the lock. */
int otelctx_lock_try(struct otelctx_lock *lock);

/* Does the calling thread hold the lock? */
bool otelctx_lock_is_mine(const struct otelctx_lock *lock);
