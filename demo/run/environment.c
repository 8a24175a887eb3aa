/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/environment.h"

#include "demo/run/memory.h"

#include <stdbool.h>
#include <string.h>

struct otelrun_environment otelrun_environment_copy(char *const *envp)
{
    struct otelrun_environment e = {.count = 0};

    while (envp[e.count])
        e.count++;
    e.strings = otelrun_allocate(e.count + 1, sizeof(*e.strings));
    memcpy(e.strings, envp, e.count * sizeof(*e.strings));
    return e;
}

static bool has_name(const char *string, const char *name)
{
    const size_t size = strlen(name);

    return strncmp(string, name, size) == 0 && string[size] == '=';
}

const char *otelrun_environment_get(const struct otelrun_environment *e,
                                    const char *name)
{
    for (size_t i = 0; i < e->count; i++)
        if (has_name(e->strings[i], name))
            return e->strings[i] + strlen(name) + 1;
    return NULL;
}

/* Puts a string, if any, in place of all variables of that name. */
static void replace(struct otelrun_environment *e, const char *name,
                    char *string)
{
    char **const strings = otelrun_allocate(e->count + 2, sizeof(*strings));
    size_t count = 0;

    for (size_t i = 0; i < e->count; i++) {
        if (!has_name(e->strings[i], name)) {
            strings[count++] = e->strings[i];
        } else if (string) {
            strings[count++] = string;
            string = NULL;
        }
    }
    if (string)
        strings[count++] = string;
    e->strings = strings;
    e->count = count;
}

void otelrun_environment_set(struct otelrun_environment *e, const char *name,
                             const char *value)
{
    replace(e, name, otelrun_format("%s=%s", name, value));
}

void otelrun_environment_unset(struct otelrun_environment *e, const char *name)
{
    replace(e, name, NULL);
}
