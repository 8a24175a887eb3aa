/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/copy.h"

#include <criterion/criterion.h>

/* Two libraries with a copy of shim/start/copy.c each: see copy_module.c. */
bool copy_first(void);
bool copy_second(void);

Test(copy, that_the_dynamic_linker_finds_first_is_bound)
{
    cr_expect(copy_first());
}

Test(copy, that_comes_later_is_not)
{
    cr_expect_not(copy_second());
}
