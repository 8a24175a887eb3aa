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

/* A kernel that cannot name mappings never reads the name, so the host may pass
 * any address: test that each word is readable before reading it. */
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

/* The host is about to name the mapping at `at`. Readers look as soon as it is
 * named, so withdraw the shim's context before. Returns whether it was
 * withdrawn here. */
static bool withdraw_for(const void *at)
{
    const void *before;

    if (!otelctx_rival_note(at) || !otelctx_state_is_used() ||
        otelctx_guard_enter())
        return false; /* whoever holds the lock withdraws when it leaves */
    before = otelctx_context_rival();
    otelctx_guard_leave();
    return before != at;
}

/* The kernel did not name the host's mapping. Publish again, unless readers
 * find that mapping by another name. */
static void return_unless_found(void)
{
    if (otelctx_guard_enter())
        return;
    otelctx_rival_check(OTELCTX_RIVAL_UNNAMED);
    otelctx_guard_leave();
}

/* Replaces libc's prctl. An argument that the caller did not pass is garbage
 * here, which the kernel ignores as well. */
static int our_prctl(int option, ...)
{
    unsigned long args[4];
    bool has_withdrawn = false;
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
        has_withdrawn = withdraw_for((const void *)args[1]);
    /* With no-new-privs a process may install filters by seccomp(2), which the
     * shim does not see. */
    if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
        otelctx_watch_cancel();
    if (option == PR_SET_NO_NEW_PRIVS)
        otelctx_filter_expect();
    if (!has_withdrawn)
        otelctx_guard_return();
    result = forward(option, args);
    if (has_withdrawn && result < 0)
        return_unless_found();
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
