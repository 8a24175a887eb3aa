/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/near.h"

#include <ctype.h>
#include <stdbool.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool equal_in_any_case(char a, char b)
{
    return toupper((unsigned char)a) == toupper((unsigned char)b);
}

size_t otelbase_near_distance(const char *a, size_t a_size, const char *b,
                              size_t b_size)
{
    size_t row[OTELBASE_NEAR_MAX + 1];

    a_size = least(a_size, OTELBASE_NEAR_MAX);
    b_size = least(b_size, OTELBASE_NEAR_MAX);
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            const size_t replaced =
                diagonal + (equal_in_any_case(a[i - 1], b[j - 1]) ? 0 : 1);

            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_size];
}
