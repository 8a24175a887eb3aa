/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/pool.h"

#include "demo/base/grow.h"
#include "demo/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Mixed once more for the low bits. */
static size_t hash_of(const void *bytes, size_t size)
{
    const uint64_t hash = otelbase_hash_add(OTELBASE_HASH, bytes, size);

    return (size_t)(hash ^ hash >> 32);
}

/* The slot that has these bytes, or the free one for them. */
static uint32_t *slot_of(const struct otelbase_pool *pool, const void *bytes,
                         size_t size)
{
    size_t at = hash_of(bytes, size) & (pool->slot_count - 1);

    for (; pool->slots[at] != 0; at = (at + 1) & (pool->slot_count - 1)) {
        const struct otelbase_pool_item *const item =
            &pool->items[pool->slots[at] - 1];

        if (item->size == size && memcmp(item->bytes, bytes, size) == 0)
            break;
    }
    return &pool->slots[at];
}

/* At most half of the slots are taken. */
static void slots_double(struct otelbase_pool *pool)
{
    free(pool->slots);
    pool->slot_count = pool->slot_count == 0 ? 64 : 2 * pool->slot_count;
    pool->slots = otelbase_zeros(pool->slot_count, sizeof(*pool->slots));
    for (size_t i = 0; i < pool->count; i++)
        *slot_of(pool, pool->items[i].bytes, pool->items[i].size) =
            (uint32_t)i + 1;
}

static char *copy_of(const void *bytes, size_t size)
{
    char *const copy = otelbase_zeros(size + 1, 1);

    (void)memcpy(copy, bytes, size);
    return copy;
}

size_t otelbase_pool_add(struct otelbase_pool *pool, const void *bytes,
                         size_t size, bool *new)
{
    uint32_t *slot;

    if (2 * pool->count >= pool->slot_count)
        slots_double(pool);
    slot = slot_of(pool, bytes, size);
    if (new)
        *new = *slot == 0;
    if (*slot == 0) {
        pool->items = otelbase_grow(pool->items, pool->count, &pool->room,
                                    sizeof(*pool->items));
        pool->items[pool->count].bytes = copy_of(bytes, size);
        pool->items[pool->count].size = size;
        *slot = (uint32_t)++pool->count;
    }
    return *slot - 1;
}

void otelbase_pool_free(struct otelbase_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        free(pool->items[i].bytes);
    free(pool->items);
    free(pool->slots);
    *pool = (struct otelbase_pool){.count = 0};
}
