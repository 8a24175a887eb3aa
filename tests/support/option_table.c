/* SPDX-License-Identifier: Apache-2.0 */

/* Prints the table of options as README.md has it. */

#include <stdio.h>

#include "config/options.h"

int main(void)
{
    puts("| variable | default | meaning |\n| --- | --- | --- |");
    for (unsigned id = 0; id < OTELCTX_OPTION_COUNT; id++) {
        const struct otelctx_option *o = &otelctx_options_table[id];
        const char *quote = o->fallback[0] ? "`" : "";

        printf("| `%s` | %s%s%s | %s |\n", o->name, quote, o->fallback, quote,
               o->help);
    }
    return 0;
}
