/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/double.h"

#include <stdio.h>
#include <stdlib.h>

void otelbase_double_format(char out[OTELBASE_DOUBLE_SIZE], double value)
{
    double back;
    int digits = 14;

    do {
        digits++;
        (void)snprintf(out, OTELBASE_DOUBLE_SIZE, "%.*g", digits, value);
        back = strtod(out, NULL);
    } while (digits < 17 && (back < value || back > value));
}
