/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/symbol.h"

#include "demo/reader/choose.h"
#include "demo/reader/dtv.h"
#include "demo/reader/objects.h"
#include "shim/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const access_names[] = {
    [OTELREAD_TLSDESC_STATIC] = "tlsdesc-static",
    [OTELREAD_TLSDESC_DYNAMIC] = "tlsdesc-dynamic",
    [OTELREAD_GENERAL_DYNAMIC] = "general-dynamic",
    [OTELREAD_INITIAL_EXEC] = "initial-exec",
    [OTELREAD_LOCAL_EXEC] = "local-exec",
};

const char *otelread_access_name(enum otelread_access access)
{
    return access_names[access];
}

bool otelread_access_is_static(enum otelread_access access)
{
    return access != OTELREAD_TLSDESC_DYNAMIC &&
           access != OTELREAD_GENERAL_DYNAMIC;
}

static void explain_unsupported(const struct otelread_symbol *symbol, char *why,
                                size_t size)
{
    if (symbol->object[0] == '\0')
        (void)snprintf(why, size,
                       "not a 64-bit process of the reader's own processor");
    else if (symbol->module != 0)
        (void)snprintf(why, size,
                       "its libc is neither glibc nor musl: where it keeps the "
                       "thread-local storage of %s is not known",
                       symbol->object);
    else
        (void)snprintf(why, size,
                       "%s defines %s, but no relocation tells where it is",
                       symbol->object, OTELCTX_THREAD_SYMBOL);
}

static void explain(int error, const struct otelread_symbol *symbol, char *why,
                    size_t size)
{
    switch (error) {
    case -ENOENT:
        (void)snprintf(why, size,
                       "no executable or library of the process defines %s",
                       OTELCTX_THREAD_SYMBOL);
        break;
    case -EAGAIN:
        (void)snprintf(why, size,
                       "%s defines %s, but no reference to it is bound yet: "
                       "nobody has used it",
                       symbol->object, OTELCTX_THREAD_SYMBOL);
        break;
    case -ENOTSUP:
        explain_unsupported(symbol, why, size);
        break;
    case -E2BIG:
        (void)snprintf(why, size,
                       "the process has more libraries, or larger ones, than "
                       "can be searched");
        break;
    default:
        (void)snprintf(why, size, "%s", strerror(-error));
    }
}

static int find(struct otelread_objects *objects,
                struct otelread_symbol *symbol)
{
    int error = otelread_objects_define(objects, OTELCTX_THREAD_SYMBOL);

    if (error == -ENOENT && objects->count == 0 && objects->foreign)
        return -ENOTSUP;
    if (error == 0)
        error = otelread_choose(objects->list, objects->count,
                                OTELCTX_THREAD_SYMBOL, symbol);
    return error;
}

int otelread_symbol_find(struct otelread_target *target,
                         struct otelread_symbol *symbol, char *why,
                         size_t why_size)
{
    struct otelread_objects objects;
    int error = otelread_objects_load(&objects, target);

    *symbol = (struct otelread_symbol){.libc = OTELREAD_LIBC_OTHER};
    if (error == 0)
        error = find(&objects, symbol);
    if (error != 0)
        explain(error, symbol, why, why_size);
    otelread_objects_free(&objects);
    return error;
}

int otelread_symbol_address(struct otelread_target *target,
                            const struct otelread_symbol *symbol,
                            uint64_t thread_pointer, uint64_t *address)
{
    uint64_t base = thread_pointer;

    if (thread_pointer == 0) /* the thread is not set up yet */
        return -ENODATA;
    if (!otelread_access_is_static(symbol->access)) {
        const int error =
            otelread_dtv_block(target, symbol, thread_pointer, &base);

        if (error != 0)
            return error;
    }
    *address = base + (uint64_t)symbol->offset;
    return 0;
}
