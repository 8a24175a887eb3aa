/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/numbers.h"

#include "demo/base/grow.h"

#include <stdlib.h>

size_t *otelbase_numbers_slot(struct otelbase_numbers *numbers, uint64_t number)
{
    bool new;
    const size_t at =
        otelbase_pool_add(&numbers->pool, &number, sizeof(number), &new);

    numbers->indexes = otelbase_grow(numbers->indexes, at, &numbers->room,
                                     sizeof(*numbers->indexes));
    if (new)
        numbers->indexes[at] = OTELBASE_NOTHING;
    return &numbers->indexes[at];
}

void otelbase_numbers_free(struct otelbase_numbers *numbers)
{
    otelbase_pool_free(&numbers->pool);
    free(numbers->indexes);
}
