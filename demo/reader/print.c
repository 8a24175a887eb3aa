/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print.h"

#include "demo/reader/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void otelread_title_print(FILE *out, const struct otelread_report *report)
{
    (void)fprintf(out, "PID %d (", (int)report->target.pid);
    otelread_escape_print(out, report->target.command,
                          strlen(report->target.command));
    (void)fputs(")\n", out);
}

void otelread_mapping_print(FILE *out, const struct otelread_mapping *mapping)
{
    (void)fprintf(out, "  mapping    %" PRIx64 "-%" PRIx64 " %s ",
                  mapping->start, mapping->end, mapping->permissions);
    otelread_escape_print(out, mapping->name, strlen(mapping->name));
    (void)fputc('\n', out);
}

void otelread_double_format(char out[OTELREAD_DOUBLE_SIZE], double value)
{
    double back;
    int digits = 14;

    do {
        digits++;
        (void)snprintf(out, OTELREAD_DOUBLE_SIZE, "%.*g", digits, value);
        back = strtod(out, NULL);
    } while (digits < 17 && (back < value || back > value));
}
