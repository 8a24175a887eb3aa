/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/children.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

/* What programs inherit as LD_PRELOAD from a process that began with this. */
static const char *left_of(const char *preload)
{
    cr_assert_eq(setenv("LD_PRELOAD", preload, 1), 0);
    cr_assert_eq(otelctx_children_leave(environ), 0);
    return getenv("LD_PRELOAD");
}

Test(children, do_not_inherit_the_shim)
{
    cr_expect_null(left_of("libotelctx_preload.so"));
    cr_expect_null(left_of("/usr/lib/libotelctx_preload.so"));
}

Test(children, inherit_other_libraries_in_their_order)
{
    cr_expect_str_eq(left_of("/a/libfirst.so:/b/libotelctx_preload.so:c.so"),
                     "/a/libfirst.so:c.so");
    cr_expect_str_eq(left_of("libotelctx_preload.so a.so"), "a.so");
    cr_expect_str_eq(left_of("libotelctx_preload.so.old"),
                     "libotelctx_preload.so.old");
    cr_expect_str_eq(left_of("/libotelctx_preload.so/libother.so"),
                     "/libotelctx_preload.so/libother.so");
}

Test(children, do_not_leave_it_to_their_own_children_to_decide)
{
    cr_assert_eq(setenv("OTELCTX_CHILDREN", "leave", 1), 0);
    cr_expect_null(left_of("libotelctx_preload.so"));
    cr_expect_null(getenv("OTELCTX_CHILDREN"));
}

Test(children, inherit_the_other_variables)
{
    cr_assert_eq(setenv("OTEL_SERVICE_NAME", "name", 1), 0);
    cr_expect_null(left_of("libotelctx_preload.so"));
    cr_expect_str_eq(getenv("OTEL_SERVICE_NAME"), "name");
}
