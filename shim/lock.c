/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lock.h"

#include <errno.h>

#include "shim/order.h"
#include "shim/sys.h"

/* Somebody sleeps; thread pointers are aligned, so the bit is free. */
enum {
    SLEEPERS = 1
};

/*
 * A second, in milliseconds that one thread slept through. When the process is
 * stopped and goes on, that is one of them, for nobody could unlock meanwhile.
 */
enum {
    SLEEPS_MAX = 1000
};

static uint64_t this_thread(void)
{
    return (uintptr_t)__builtin_thread_pointer();
}

bool otelctx_lock_is_mine(const uint64_t *word)
{
    return (otelctx_load_acquire(word) & ~(uint64_t)SLEEPERS) == this_thread();
}

OTELCTX_RARE static int wait_for(uint64_t *word, uint64_t me)
{
    unsigned sleeps = 0;

    while (sleeps < SLEEPS_MAX) {
        uint64_t seen = 0;

        if (otelctx_swap_if(word, &seen, me))
            return 0;
        if ((seen & ~(uint64_t)SLEEPERS) == me)
            return -EBUSY;
        if (!(seen & SLEEPERS)) {
            sleeps = 0; /* it was taken anew */
            if (!otelctx_swap_if(word, &seen, seen | SLEEPERS))
                continue;
        }
        switch (otelctx_sys_futex_wait(word, (uint32_t)(seen | SLEEPERS))) {
        case -ETIMEDOUT:
            sleeps++;
            break;
        case -EINTR: /* no whole sleep, and no news */
            break;
        case -EAGAIN:
        case 0:
            sleeps = 0;
            break;
        default: /* a filter refuses; to try on would be to spin */
            return -EBUSY;
        }
    }
    return -EBUSY;
}

int otelctx_lock(uint64_t *word)
{
    const uint64_t me = this_thread();
    uint64_t free = 0;

    return otelctx_swap_if(word, &free, me) ? 0 : wait_for(word, me);
}

/* All are woken: who sleeps until a timeout knows that nobody unlocked then. */
void otelctx_unlock(uint64_t *word)
{
    if (otelctx_exchange(word, 0) & SLEEPERS)
        otelctx_sys_futex_wake(word);
}
