/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/text/double.h"

#include <stdio.h>
#include <stdlib.h>

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
