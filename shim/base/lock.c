/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/lock.h"

#include <errno.h>

#include "shim/base/order.h"
#include "shim/base/sys.h"

/* The bit of the lock word that says that threads are waiting. The bit is free
 * because thread pointers are aligned. */
enum {
    HAS_SLEEPERS = 1
};

/*
 * How often a thread waits before it gives up: a thousand sleeps of one
 * millisecond. Sleeps and not clock time: a process that was stopped for a
 * minute has slept once, and its owner had no chance to unlock meanwhile.
 */
enum {
    SLEEPS_MAX = 1000
};

/*
 * The thread pointer alone does not identify the owner: a process made by
 * clone(CLONE_VM) without CLONE_SETTLS shares its creator's, but has a stack of
 * its own. So the owner's frame must be near as well. A signal handler runs up
 * to FRAME_BELOW bytes below the frame that took the lock, unless it has an
 * alternate stack; an atfork handler runs up to FRAME_ABOVE bytes above it.
 */
enum {
    FRAME_ABOVE = 4 << 10,
    FRAME_BELOW = 4 << 20,
    FRAMELESS_MAX = 16 /* sleeps */
};

static uint64_t this_thread(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

static uint64_t this_frame(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

OTELCTX_RARE static bool is_on_this_stack(uint64_t frame)
{
    return frame - this_frame() + FRAME_ABOVE < FRAME_ABOVE + FRAME_BELOW ||
           otelctx_sys_is_on_signal_stack();
}

static bool has_this_thread(uint64_t word)
{
    return (word & ~(uint64_t)HAS_SLEEPERS) == this_thread();
}

bool otelctx_lock_is_mine(const struct otelctx_lock *lock)
{
    const uint64_t frame = otelctx_load_acquire(&lock->frame);

    return has_this_thread(otelctx_load_acquire(&lock->word)) &&
           (frame == 0 || is_on_this_stack(frame));
}

/*
 * As otelctx_lock_is_mine(), for who waits. The owner has no frame for two
 * instructions after it took the lock, and for two before it unlocks: another
 * process will see it go on, the owner's signal handler will not. That handler
 * then gives the lock its own frame, so that the next one, which may interrupt
 * at the same instruction, does not wait as well.
 */
static bool is_mine_after(struct otelctx_lock *lock, unsigned *frameless)
{
    const uint64_t frame = otelctx_load_acquire(&lock->frame);

    if (!has_this_thread(otelctx_load_acquire(&lock->word)))
        return false;
    if (frame != 0)
        return is_on_this_stack(frame);
    if (++*frameless <= FRAMELESS_MAX)
        return false;
    otelctx_store(&lock->frame, this_frame());
    return true;
}

OTELCTX_RARE static int wait_and_take(struct otelctx_lock *lock, uint64_t me)
{
    uint64_t *const word = &lock->word;
    unsigned sleeps = 0, frameless = 0;

    while (sleeps < SLEEPS_MAX) {
        uint64_t seen = 0;

        if (otelctx_compare_exchange(word, &seen, me))
            return 0;
        if (is_mine_after(lock, &frameless))
            return -EBUSY;
        if (!(seen & HAS_SLEEPERS)) {
            sleeps = 0; /* the lock was free meanwhile */
            if (!otelctx_compare_exchange(word, &seen, seen | HAS_SLEEPERS))
                continue;
        }
        switch (otelctx_sys_futex_wait(word, (uint32_t)(seen | HAS_SLEEPERS))) {
        case -ETIMEDOUT:
            sleeps++;
            break;
        case -EINTR: /* neither a whole sleep nor an unlock */
            break;
        case -EAGAIN:
        case 0:
            sleeps = 0;
            break;
        default: /* a seccomp filter: to try again would be to spin */
            return -EBUSY;
        }
    }
    /* Another process would have gone on: it is a handler of this thread's, on
     * a stack that the kernel does not tell of. */
    if (has_this_thread(otelctx_load_acquire(word)))
        otelctx_store(&lock->frame, 0);
    return -EBUSY;
}

static bool take_free(struct otelctx_lock *lock, uint64_t me)
{
    uint64_t free = 0;

    return otelctx_compare_exchange(&lock->word, &free, me);
}

int otelctx_lock(struct otelctx_lock *lock)
{
    const uint64_t me = this_thread();
    const int err = take_free(lock, me) ? 0 : wait_and_take(lock, me);

    if (!err)
        otelctx_store(&lock->frame, this_frame());
    return err;
}

int otelctx_lock_try(struct otelctx_lock *lock)
{
    if (!take_free(lock, this_thread()))
        return -EBUSY;
    otelctx_store(&lock->frame, this_frame());
    return 0;
}

/* Wakes all waiting threads and not just one: so a thread whose sleep ends by
 * timeout knows that nobody unlocked during that sleep. */
void otelctx_unlock(struct otelctx_lock *lock)
{
    otelctx_store(&lock->frame, 0);
    if (otelctx_exchange(&lock->word, 0) & HAS_SLEEPERS)
        otelctx_sys_futex_wake(&lock->word);
}
