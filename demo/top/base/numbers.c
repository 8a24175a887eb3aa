/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/base/numbers.h"

#include "demo/top/base/grow.h"

#include <stdlib.h>

size_t *oteltop_numbers_slot(struct oteltop_numbers *numbers, uint64_t number)
{
    bool new;
    const size_t at =
        oteltop_pool_add(&numbers->pool, &number, sizeof(number), &new);

    numbers->indexes = oteltop_grow(numbers->indexes, at, &numbers->room,
                                    sizeof(*numbers->indexes));
    if (new)
        numbers->indexes[at] = OTELTOP_NOTHING;
    return &numbers->indexes[at];
}

void oteltop_numbers_free(struct oteltop_numbers *numbers)
{
    oteltop_pool_free(&numbers->pool);
    free(numbers->indexes);
}
