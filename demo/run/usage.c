/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/usage.h"

#include "demo/run/memory.h"
#include "demo/run/options.h"

#include <stdio.h>
#include <string.h>

/* The words of a text, in lines of at most 78 columns. */
static void print_paragraph(const char *text)
{
    const size_t margin = 8, width = 78;
    size_t column = 0;

    while (*text != '\0') {
        const size_t size = strcspn(text, " ");

        if (column + 1 + size > width || column == 0) {
            printf("%s%*s", column > 0 ? "\n" : "", (int)margin, "");
            column = margin;
        } else {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)size, text);
        column += size;
        text += size;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(enum otelctx_option_id id)
{
    const char *const name = otelrun_option_name(id);
    const struct otelctx_span fallback = otelctx_option_fallback(id);

    if (!name)
        return;
    printf("  --%s=%s\n", name,
           otelctx_option_kind(id) < OTELCTX_KIND_UTF8
               ? otelctx_option_expects(id)
               : "TEXT");
    print_paragraph(otelrun_format(
        "%s Sets %s.%s%.*s%s", otelctx_option_help(id), otelctx_option_name(id),
        fallback.size > 0 ? " Default: " : "", (int)fallback.size, fallback.at,
        fallback.size > 0 ? "." : ""));
}

void otelrun_usage_print(void)
{
    const struct otelrun_own_option *own;

    puts(
        "usage: otelctx-run [OPTION...] [--] COMMAND [ARGUMENT...]\n"
        "\n"
        "Executes a command with libotelctx_preload.so loaded into it, so that "
        "it has\nan OpenTelemetry process context (OTEP 4719). Variables that "
        "are set stay, unless\nan option names them.\n");
    for (own = otelrun_own_options; own->name; own++) {
        printf(own->argument == OTELRUN_OPTIONAL ? "  --%s[=%s]\n"
               : own->argument == OTELRUN_NEEDED ? "  --%s=%s\n"
                                                 : "  --%s%s\n",
               own->name, own->shows);
        print_paragraph(own->help);
    }
    puts("\nVariables of the library, see libotelctx_preload(7):\n");
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++)
        print_row(id);
    puts("\nExit status: that of the command; 125 for a wrong option, 126 if "
         "the command\ncannot be executed, 127 if there is none.");
}
