/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/prctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "shim/base/clock.h"
#include "shim/base/host.h"
#include "shim/base/sys.h"
#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/guard.h"
#include "shim/process/rival.h"
#include "shim/process/state.h"
#include "shim/start/watch.h"
#include "shim/wire/process.h"

typedef int prctl_function(int option, ...);
static prctl_function *next; /* NULL: the kernel */

void otelctx_prctl_start(void)
{
    void *const found = otelctx_host_next_symbol("prctl");

    __builtin_memcpy(&next, &found, sizeof(found));
}

/* Kernels that cannot name mappings never look at the name, so it may be any
 * nonsense: each word is tried before it is read. */
static bool is_context_name(const char *name)
{
    static const char expected[] = OTELCTX_MAPPING_NAME;

    for (unsigned i = 0; i < sizeof(expected); i++) {
        const uintptr_t at = (uintptr_t)name + i;

        if ((i == 0 || at % 8 == 0) &&
            !otelctx_sys_readable((const void *)(at & ~(uintptr_t)7)))
            return false;
        if (*(const char *)at != expected[i])
            return false;
    }
    return true;
}

static int forward(int option, const unsigned long args[4])
{
    int result;

    if (next)
        return next(option, args[0], args[1], args[2], args[3]);
    result = otelctx_sys_prctl(option, args);
    if (result < 0) {
        *otelctx_host_errno() = -result;
        return -1;
    }
    return result;
}

/* The host is about to name a mapping at `at`: withdraw before it is done,
 * because readers look at that very moment. Returns whether we have. */
static bool make_way(const void *at)
{
    const void *before;

    if (!otelctx_rival_note(at) || !otelctx_state_is_used() ||
        otelctx_guard_enter())
        return false; /* or whoever was interrupted leaves soon */
    before = otelctx_context_rival();
    otelctx_guard_leave();
    return before != at;
}

/* It was not named, and may be found by no other name either. */
static void come_back(void)
{
    if (otelctx_guard_enter())
        return;
    otelctx_rival_check(OTELCTX_RIVAL_UNNAMED);
    otelctx_guard_leave();
}

/* In place of libc's, with the same arguments: each is there, or garbage that
 * nobody looks at. */
static int our_prctl(int option, ...)
{
    unsigned long args[4];
    bool made_way = false;
    va_list list;
    int result;

    va_start(list, option);
    for (unsigned i = 0; i < 4; i++)
        args[i] = va_arg(list, unsigned long);
    va_end(list);

    otelctx_guard_notice_fork();
    if (option == PR_SET_TSC)
        otelctx_clock_disable_vdso();
    if (option == PR_SET_VMA && args[0] == PR_SET_VMA_ANON_NAME &&
        is_context_name((const char *)args[3]))
        made_way = make_way((const void *)args[1]);
    /* Without new privileges a process installs filters past libc, too. */
    if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
        otelctx_watch_cancel();
    if (option == PR_SET_NO_NEW_PRIVS)
        otelctx_filter_expect();
    if (!made_way)
        otelctx_guard_return();
    result = forward(option, args);
    if (made_way && result < 0)
        come_back();
    if (option == PR_SET_SECCOMP && result == 0)
        otelctx_filter_note();
    return result;
}

extern __typeof__(prctl) prctl
    __attribute__((visibility("default"), alias("our_prctl")));

bool otelctx_prctl_is_hosts(void)
{
    return &prctl == &our_prctl;
}
