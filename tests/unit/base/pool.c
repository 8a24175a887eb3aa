/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/pool.h"

#include <criterion/criterion.h>

Test(top_pool, the_same_bytes_have_the_same_number)
{
    struct otelbase_pool pool = {.count = 0};
    bool new;

    cr_expect_eq(otelbase_pool_add(&pool, "ab", 2, &new), 0);
    cr_expect(new);
    cr_expect_eq(otelbase_pool_add(&pool, "a\0", 2, &new), 1);
    cr_expect(new);
    cr_expect_eq(otelbase_pool_add(&pool, "", 0, NULL), 2);
    cr_expect_eq(otelbase_pool_add(&pool, "a", 1, NULL), 3);
    cr_expect_eq(otelbase_pool_add(&pool, "ab", 2, &new), 0);
    cr_expect_not(new);
    cr_expect_eq(pool.count, 4);
    cr_expect_str_eq(pool.items[0].bytes, "ab");
    cr_expect_eq(pool.items[1].size, 2);
    otelbase_pool_free(&pool);
    cr_expect_eq(pool.count, 0);
}

Test(top_pool, many_have_a_number_each)
{
    struct otelbase_pool pool = {.count = 0};

    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 100000; i++)
            cr_assert_eq(otelbase_pool_add(&pool, &i, sizeof(i), NULL), i);
    otelbase_pool_free(&pool);
}
