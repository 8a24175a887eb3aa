/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lock.h"

#include <errno.h>

#include "shim/order.h"
#include "shim/sys.h"

/* Somebody sleeps; thread pointers are aligned, so the bit is free. */
enum {
    SLEEPERS = 1
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
    uint64_t taken = me;

    for (;;) {
        uint64_t seen = 0;

        if (otelctx_swap_if(word, &seen, taken))
            return 0;
        if ((seen & ~(uint64_t)SLEEPERS) == me)
            return -EBUSY;
        if (!(seen & SLEEPERS) &&
            !otelctx_swap_if(word, &seen, seen | SLEEPERS))
            continue;
        if (otelctx_sys_futex_wait(word, (uint32_t)(seen | SLEEPERS)) ==
            -ETIMEDOUT)
            return -EBUSY;
        taken = me | SLEEPERS; /* others may still sleep */
    }
}

int otelctx_lock(uint64_t *word)
{
    const uint64_t me = this_thread();
    uint64_t free = 0;

    return otelctx_swap_if(word, &free, me) ? 0 : wait_for(word, me);
}

void otelctx_unlock(uint64_t *word)
{
    if (otelctx_exchange(word, 0) & SLEEPERS)
        otelctx_sys_futex_wake(word);
}
