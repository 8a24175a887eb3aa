/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/elf/symbol_find.h"

#include "demo/reader/elf/choose.h"
#include "demo/reader/elf/objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void explain_unsupported(struct otelread_variable *variable)
{
    const struct otelread_symbol *const symbol = &variable->symbol;
    char *const why = variable->why;
    const size_t size = sizeof(variable->why);

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
                       symbol->object, variable->name);
}

static void explain(struct otelread_variable *variable)
{
    char *const why = variable->why;
    const size_t size = sizeof(variable->why);

    switch (variable->error) {
    case -ENOENT:
        (void)snprintf(why, size,
                       "no executable or library of the process defines %s",
                       variable->name);
        break;
    case -EAGAIN:
        (void)snprintf(why, size,
                       "%s defines %s, but no reference to it is bound yet: "
                       "nobody has used it",
                       variable->symbol.object, variable->name);
        break;
    case -ENOTSUP:
        explain_unsupported(variable);
        break;
    case -E2BIG:
        (void)snprintf(why, size,
                       "the process has more libraries, or larger ones, than "
                       "can be searched");
        break;
    default:
        (void)snprintf(why, size, "%s", strerror(-variable->error));
    }
}

static int find_among(struct otelread_objects *objects,
                      struct otelread_variable *variable)
{
    int error = otelread_objects_find_definitions(objects, variable->name,
                                                  variable->size);

    if (error == -ENOENT && objects->count == 0 && objects->foreign)
        return -ENOTSUP;
    if (error == 0)
        error = otelread_symbol_choose(objects->list, objects->count,
                                       variable->name, &variable->symbol);
    return error;
}

/*
 * No relocation tells where the variable is, but one tells it of another
 * variable in the same TLS block: code may come to both by that one.
 */
static void find_beside(struct otelread_variable *variable,
                        const struct otelread_variable *other)
{
    struct otelread_symbol *const symbol = &variable->symbol;
    const struct otelread_symbol own = *symbol;

    if ((variable->error != -EAGAIN && variable->error != -ENOTSUP) ||
        other->error != 0 || symbol->header == 0 ||
        symbol->header != other->symbol.header)
        return;
    *symbol = other->symbol;
    symbol->value = own.value;
    symbol->offset += (int64_t)(own.value - other->symbol.value);
    variable->error = 0;
}

void otelread_variables_find(struct otelread_target *target,
                             struct otelread_variable *variables, size_t count)
{
    struct otelread_objects objects;
    const int error = otelread_objects_load(&objects, target);

    for (size_t i = 0; i < count; i++) {
        variables[i].symbol =
            (struct otelread_symbol){.libc = OTELREAD_LIBC_OTHER};
        variables[i].error =
            error == 0 ? find_among(&objects, &variables[i]) : error;
    }
    for (size_t i = 0; i < count * count; i++)
        find_beside(&variables[i / count], &variables[i % count]);
    for (size_t i = 0; i < count; i++) {
        if (variables[i].error != 0)
            explain(&variables[i]);
    }
    otelread_objects_free(&objects);
}
