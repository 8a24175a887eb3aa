/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Gives each different byte string a number, from 0 on, and keeps a copy. Zeros
 * are an empty pool. Ends the program when there is no memory.
 */
struct otelbase_pool {
    struct otelbase_pool_item {
        char *bytes; /* with a NUL behind them */
        size_t size;
    } * items;
    size_t count, room;
    uint32_t *slots; /* 1 + number, or 0 */
    size_t slot_count;
};

/* The number of these bytes; *new, unless NULL, says whether it is a new one.
 */
size_t otelbase_pool_add(struct otelbase_pool *pool, const void *bytes,
                         size_t size, bool *new);

void otelbase_pool_free(struct otelbase_pool *pool);
