/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Prints the table of options in mdoc(7), an empty line after each entry. The
 * entry of an option in libotelctx_preload(7) must begin with the same lines.
 */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/options.h"

/* One sentence per line, as mdoc wants it, and `word` in quotation marks. */
static void print_help(const char *text)
{
    bool quoted = false;

    for (; *text; text++) {
        if (*text == '`') {
            fputs(quoted ? "\\(cq" : "\\(oq", stdout);
            quoted = !quoted;
        } else if (*text == ' ' && text[-1] == '.') {
            putchar('\n');
        } else {
            putchar(*text);
        }
    }
    putchar('\n');
}

/* What a value may be: from "a|b|c", "a,b,off" or "1..9". */
static void print_values(enum otelctx_option_id id)
{
    const char *const expects = otelctx_option_expects(id);
    const enum otelctx_option_kind kind = otelctx_option_kind(id);

    if (kind == OTELCTX_KIND_WORD)
        fputs("One of ", stdout);
    else if (kind == OTELCTX_KIND_LIST)
        fputs("From this list: ", stdout);
    else if (kind == OTELCTX_KIND_NUMBER)
        fputs("A number: ", stdout);
    else
        return;
    for (const char *c = expects; *c; c++)
        if (*c == '|' || *c == ',')
            fputs(", ", stdout);
        else
            putchar(*c);
    puts(".");
}

int main(void)
{
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const struct otelctx_span fallback = otelctx_option_fallback(id);

        printf(".It Ev %s\n", otelctx_option_name(id));
        print_help(otelctx_option_help(id));
        print_values(id);
        if (fallback.size > 0)
            printf("Default:\n.Ql %.*s .\n", (int)fallback.size, fallback.at);
        putchar('\n');
    }
    return 0;
}
