/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/grow.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void give_up(void)
{
    (void)fputs("out of memory\n", stderr);
    exit(1);
}

void *otelbase_grow(void *array, size_t count, size_t *room, size_t size)
{
    void *larger;

    if (count < *room)
        return array;
    *room = *room == 0 ? 16 : 2 * *room;
    larger = *room <= SIZE_MAX / size ? realloc(array, *room * size) : NULL;
    if (!larger)
        give_up();
    return larger;
}

void *otelbase_zeros(size_t count, size_t size)
{
    void *const zeros = calloc(count > 0 ? count : 1, size);

    if (!zeros)
        give_up();
    return zeros;
}
