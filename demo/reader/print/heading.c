/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/heading.h"

#include "demo/base/escape.h"

#include <inttypes.h>
#include <string.h>

void otelread_title_print(FILE *out, const struct otelread_report *report)
{
    (void)fprintf(out, "PID %d (", (int)report->target.pid);
    otelbase_escape_print(out, report->target.command,
                          strlen(report->target.command));
    (void)fputs(")\n", out);
}

void otelread_mapping_print(FILE *out, const struct otelread_mapping *mapping)
{
    (void)fprintf(out, "  mapping    %" PRIx64 "-%" PRIx64 " %s ",
                  mapping->start, mapping->end, mapping->permissions);
    otelbase_escape_print(out, mapping->name, strlen(mapping->name));
    (void)fputc('\n', out);
}
