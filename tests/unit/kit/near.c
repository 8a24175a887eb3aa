/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/near.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;

static const char *near(const char *name)
{
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    otelkit_near_print(out, "p", name);
    (void)fclose(out);
    return text;
}

Test(kit_near, the_nearest_name_comes_first)
{
    cr_expect_eq(strncmp(near("payload/btyes"),
                         "p: no scenario \"payload/btyes\"; near are "
                         "payload/bytes,",
                         53),
                 0, "%s", text);
}

Test(kit_near, a_part_of_a_name_is_enough)
{
    cr_expect_str_eq(near("entity"), "p: no scenario \"entity\"; near are "
                                     "payload/entity-refs\n");
}

Test(kit_near, nothing_is_near_to_nonsense)
{
    cr_expect_str_eq(near("qqqqqqqqqqqqqqqqqqqq"),
                     "p: no scenario \"qqqqqqqqqqqqqqqqqqqq\"; see "
                     "otelctx-play list\n");
}
