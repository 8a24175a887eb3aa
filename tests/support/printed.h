/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "demo/reader/report/report.h"

/* What a printer of the reader prints for a report; valid until the next call.
 */
static inline const char *printed(void (*print)(FILE *,
                                                const struct otelread_report *),
                                  const struct otelread_report *report)
{
    static char *text;
    size_t size;
    FILE *out;

    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    print(out, report);
    fclose(out);
    return text;
}
