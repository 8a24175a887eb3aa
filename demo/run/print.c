/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/print.h"

#include "demo/run/memory.h"

#include <stdbool.h>
#include <string.h>

/* Within '...' a shell takes everything but "'" as it is. */
static void print_shell(FILE *out, const char *name, const char *value)
{
    if (!value) {
        (void)fprintf(out, "unset %s\n", name);
        return;
    }
    (void)fprintf(out, "export %s='", name);
    for (; *value != '\0'; value++)
        if (*value == '\'')
            (void)fputs("'\\''", out);
        else
            (void)fputc(*value, out);
    (void)fputs("'\n", out);
}

/* systemd.syntax(7), "Quoting", and "Specifiers" in systemd.unit(5). */
static void print_unit(FILE *out, const char *name, const char *value)
{
    if (!value) {
        (void)fprintf(out, "UnsetEnvironment=%s\n", name);
        return;
    }
    (void)fprintf(out, "Environment=\"%s=", name);
    for (; *value != '\0'; value++) {
        if (*value == '%')
            (void)fputs("%%", out);
        else if (*value == '"' || *value == '\\')
            (void)fprintf(out, "\\%c", *value);
        else
            (void)fputc(*value, out);
    }
    (void)fputs("\"\n", out);
}

static void print_env(FILE *out, const char *name, const char *value)
{
    if (value)
        (void)fprintf(out, "%s=%s\n", name, value);
}

static const struct {
    const char *name;
    void (*print)(FILE *out, const char *name, const char *value);
} forms[] = {
    {"shell", print_shell},
    {"unit", print_unit},
    {"env", print_env},
};

/* The name of a variable that `e` does not have with that value, or NULL; with
 * `gone`, that it does not have at all. */
static const char *find_change(const char *string, bool gone,
                               const struct otelrun_environment *e)
{
    const char *const end = strchr(string, '=');
    const char *name, *other;

    if (!end)
        return NULL;
    name = otelrun_format("%.*s", (int)(end - string), string);
    other = otelrun_environment_get(e, name);
    return !other || (!gone && strcmp(other, end + 1) != 0) ? name : NULL;
}

static bool has_control(const char *text)
{
    while (*text != '\0' && (unsigned char)*text >= ' ' && *text != 0x7f)
        text++;
    return *text != '\0';
}

/* Prints what differs in `to`; or, of what is only in `from`, that it went. */
static void compare(FILE *out, size_t form,
                    const struct otelrun_environment *from,
                    const struct otelrun_environment *to, bool gone)
{
    for (size_t i = 0; i < to->count; i++) {
        const char *const string = to->strings[i];
        const char *const name = find_change(string, gone, from);

        if (name)
            forms[form].print(out, name,
                              gone ? NULL : string + strlen(name) + 1);
    }
}

const char *otelrun_print(FILE *out, const char *form,
                          const struct otelrun_environment *before,
                          const struct otelrun_environment *after)
{
    for (size_t i = 0; i < after->count; i++) {
        const char *const name = find_change(after->strings[i], false, before);

        if (name && has_control(after->strings[i]))
            return otelrun_format("%s has a control character, which could "
                                  "begin another line",
                                  name);
    }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(form, forms[i].name) != 0)
            continue;
        compare(out, i, before, after, false);
        compare(out, i, after, before, true);
        return NULL;
    }
    return "expected shell, unit or env";
}
