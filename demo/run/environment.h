/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* The environment that the command gets: strings in their order, NULL last. */
struct otelrun_environment {
    char **strings;
    size_t count;
};

struct otelrun_environment otelrun_environment_copy(char *const *envp);

/* The value of the first variable of that name, or NULL. */
const char *otelrun_environment_get(const struct otelrun_environment *e,
                                    const char *name);

/* Gives the variable that value, at the place of the first one of that name;
 * others of the name go. */
void otelrun_environment_set(struct otelrun_environment *e, const char *name,
                             const char *value);
void otelrun_environment_unset(struct otelrun_environment *e, const char *name);
