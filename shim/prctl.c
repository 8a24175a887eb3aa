/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/prctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "shim/host.h"
#include "shim/lifecycle.h"
#include "shim/sys.h"
#include "shim/wire.h"

typedef int prctl_function(int option, ...);
static prctl_function *next; /* NULL: the kernel */

void otelctx_prctl_start(void)
{
    void *const found = otelctx_host_next("prctl");

    __builtin_memcpy(&next, &found, sizeof(found));
}

/* Kernels that cannot name mappings never look at the name, so it may be any
 * nonsense: each word is tried before it is read. */
static bool is_context_name(const char *name)
{
    static const char expected[] = OTELCTX_MAPPING_NAME;

    for (unsigned i = 0; i < sizeof(expected); i++) {
        const uintptr_t at = (uintptr_t)(name + i);

        if ((i == 0 || at % 8 == 0) &&
            !otelctx_sys_readable((const void *)(at & ~(uintptr_t)7)))
            return false;
        if (name[i] != expected[i])
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

/* In place of libc's, with the same arguments: each is there, or garbage that
 * nobody looks at. */
static int our_prctl(int option, ...)
{
    unsigned long args[4];
    va_list list;
    int result;

    va_start(list, option);
    for (unsigned i = 0; i < 4; i++)
        args[i] = va_arg(list, unsigned long);
    va_end(list);

    /* Before it is done, because readers look at that very moment. */
    if (option == PR_SET_VMA && args[0] == PR_SET_VMA_ANON_NAME &&
        is_context_name((const char *)args[3]))
        otelctx_lifecycle_note_publisher((const void *)args[1]);
    result = forward(option, args);
    if (option == PR_SET_SECCOMP && result == 0)
        otelctx_lifecycle_note_filter();
    return result;
}

extern __typeof__(prctl) prctl
    __attribute__((visibility("default"), alias("our_prctl")));

bool otelctx_prctl_is_hosts(void)
{
    return &prctl == &our_prctl;
}
