/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/print.h"

#include "demo/run/memory.h"

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
        const unsigned char byte = (unsigned char)*value;

        if (byte == '%')
            (void)fputs("%%", out);
        else if (byte == '"' || byte == '\\')
            (void)fprintf(out, "\\%c", byte);
        else if (byte < ' ' || byte == 0x7f)
            (void)fprintf(out, "\\x%02x", byte);
        else
            (void)fputc(byte, out);
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

/* Prints what differs in `to`; or, of what is only in `from`, that it went. */
static void compare(FILE *out, size_t form,
                    const struct otelrun_environment *from,
                    const struct otelrun_environment *to, bool gone)
{
    for (size_t i = 0; i < to->count; i++) {
        const char *const end = strchr(to->strings[i], '=');
        const char *name, *old;

        if (!end)
            continue;
        name =
            otelrun_format("%.*s", (int)(end - to->strings[i]), to->strings[i]);
        old = otelrun_environment_get(from, name);
        if (gone ? !old : !old || strcmp(old, end + 1) != 0)
            forms[form].print(out, name, gone ? NULL : end + 1);
    }
}

bool otelrun_print(FILE *out, const char *form,
                   const struct otelrun_environment *before,
                   const struct otelrun_environment *after)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(form, forms[i].name) != 0)
            continue;
        compare(out, i, before, after, false);
        compare(out, i, after, before, true);
        return true;
    }
    return false;
}
