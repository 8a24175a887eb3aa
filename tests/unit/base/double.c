/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/double.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(reader_double, numbers_read_back_as_the_same_double)
{
    static const double values[] = {0.1,    1.0 / 3, 1e300,
                                    5e-324, -1e-7,   123456789012345680.0};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[OTELBASE_DOUBLE_SIZE];

        otelbase_double_format(text, values[i]);
        const double back = strtod(text, NULL);
        cr_expect(back >= values[i] && back <= values[i], "%s", text);
    }
}
