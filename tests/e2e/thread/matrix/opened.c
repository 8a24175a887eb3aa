/* SPDX-License-Identifier: Apache-2.0 */

#include "matrix.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef __GLIBC__ /* musl has one link-map namespace */
#define LM_ID_NEWLM                  0
#define dlmopen(world, library, how) dlopen(library, how)
#endif

static void *old; /* the library "-NAME" */

/* "+NAME" opens it in a link-map namespace of its own, with a libc of its own.
 */
static void *opened(const char *library)
{
    void *const handle = *library == '+'
                             ? dlmopen(LM_ID_NEWLM, library + 1, RTLD_NOW)
                             : dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static slot_function *slot_in(void *library)
{
    slot_function *slot;

    *(void **)&slot = dlsym(library, "matrix_slot");
    return slot;
}

slot_function *matrix_find_old(char **libraries)
{
    if (!*libraries || **libraries != '-')
        return NULL;
    old = opened(*libraries + 1);
    return slot_in(old);
}

slot_function *matrix_find(char **libraries)
{
    slot_function *slot = NULL;

    if (old) {
        dlclose(old);
        libraries++;
    }
    for (; *libraries; libraries++)
        slot = slot_in(opened(*libraries));
    return slot;
}
