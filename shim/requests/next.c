/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/requests/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "shim/base/tls_offset.h" /* for a compiler without TLSDESC */

void *otelctx_next_found[OTELCTX_NEXT_COUNT];

#pragma weak dlsym
#pragma weak __errno_location

/* glibc before 2.34 has dlsym in another library, which the program may not
 * load. These are what its own parts use. */
extern void *__libc_dlopen_mode(const char *name, int mode)
    __attribute__((weak));
extern void *__libc_dlsym(void *library, const char *name)
    __attribute__((weak));

#define NAME(name) #name,
static const char names[][16] = {OTELCTX_INTERPOSED(NAME)};

static __thread bool finding;

typedef void *find_function(void *library, const char *name);

static find_function *finder(void)
{
    static find_function *found;
    const int mode = (int)0x80000000 | RTLD_LAZY; /* glibc: __RTLD_DLOPEN */
    void *library;

    if (dlsym)
        return dlsym;
    if (!found && __libc_dlopen_mode && __libc_dlsym) {
        library = __libc_dlopen_mode("libdl.so.2", mode);
        if (library)
            found =
                __extension__(find_function *) __libc_dlsym(library, "dlsym");
    }
    return found;
}

void *otelctx_next_find(enum otelctx_next which)
{
    find_function *find;
    void *found = NULL;
    int saved;

    if (finding)
        return NULL;
    finding = true;
    find = finder();
    if (find) {
        saved = errno;
        found = find(RTLD_NEXT, names[which]);
        errno = saved;
    }
    __atomic_store_n(&otelctx_next_found[which], found, __ATOMIC_RELAXED);
    finding = false;
    return found;
}

/* Now, because dlsym is not for signal handlers. */
__attribute__((constructor)) static void find_all(void)
{
    for (unsigned i = 0; i < OTELCTX_NEXT_COUNT; i++)
        (void)otelctx_next((enum otelctx_next)i);
}
