/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/run/library.h"

#include "demo/run/doctor/usual.h"

#include <criterion/criterion.h>

/* LD_PRELOAD afterwards; NULL when it is unset. */
static const char *preloaded_both(const char *before, const char *library,
                                  const char *requests)
{
    struct otelrun_environment e =
        otelrun_environment_copy((char *[]){(char[]){"A=b"}, NULL});

    if (before)
        otelrun_environment_set(&e, "LD_PRELOAD", before);
    otelrun_library_preload(&e, library, requests);
    return otelrun_environment_get(&e, "LD_PRELOAD");
}

static const char *preloaded(const char *before, const char *library)
{
    return preloaded_both(before, library, NULL);
}

#define OURS "/o/libotelctx_preload.so"

Test(library, comes_first)
{
    cr_expect_str_eq(preloaded(NULL, OURS), OURS);
    cr_expect_str_eq(preloaded("a.so b.so", OURS), OURS ":a.so:b.so");
}

Test(library, comes_once)
{
    cr_expect_str_eq(preloaded("a.so:" OURS ":libotelctx_preload.so", OURS),
                     OURS ":a.so");
    cr_expect_str_eq(preloaded("/x/other.so", "/x/other.so"), "/x/other.so");
}

/* As ld.so(8) reads LD_PRELOAD. */
Test(library, is_known_by_its_whole_name)
{
    static const struct {
        const char *entry;
        bool is_ours;
    } cases[] = {
        {OURS, true},
        {"libotelctx_preload.so", true},
        {"/libotelctx_preload/other.so", false},
        {"/libotelctx_preload.so/other.so", false},
        {"/o/libotelctx_preload.so.old", false},
        {"/o/not_libotelctx_preload.so", false},
        {"/o/a\tlibotelctx_preload.so", false},
        {"", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct otelctx_span rest = otelctx_span_from(cases[i].entry);
        const struct otelctx_span entry =
            otelrun_preload_next(&rest, OTELRUN_LD_PRELOAD);

        cr_expect_eq(otelrun_preload_is_ours(entry), cases[i].is_ours, "%s",
                     cases[i].entry);
        cr_expect_eq(rest.size, 0, "%s", cases[i].entry);
    }
}

Test(library, goes_where_it_cannot_work)
{
    cr_expect_str_eq(preloaded("a.so " OURS, NULL), "a.so");
    cr_expect_null(preloaded(OURS, NULL));
}

Test(library, leaves_other_preloads_as_they_are)
{
    cr_expect_str_eq(preloaded(" a.so  b.so", NULL), " a.so  b.so");
    cr_expect_str_eq(preloaded("xlibotelctx_preload.so", NULL),
                     "xlibotelctx_preload.so");
}

#define REQUESTS "/o/libotelctx_requests.so"

Test(library, has_that_of_requests_behind_it_once)
{
    cr_expect_str_eq(preloaded_both(NULL, OURS, REQUESTS), OURS ":" REQUESTS);
    cr_expect_str_eq(
        preloaded_both("libotelctx_requests.so:a.so " OURS, OURS, REQUESTS),
        OURS ":" REQUESTS ":a.so");
    cr_expect_str_eq(preloaded(REQUESTS ":a.so", OURS),
                     OURS ":" REQUESTS ":a.so");
}

Test(library, has_that_of_requests_beside_it)
{
    cr_expect_str_eq(otelrun_library_requests(OURS), REQUESTS);
}
