/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/payload/profiled.h"

#include <criterion/criterion.h>

static enum otelread_profiled_status judge(uint64_t span, uint64_t root,
                                           uint64_t checksum)
{
    const struct otelctx_profiler_context context = {span, root, checksum, {0}};

    return otelread_profiled_judge(&context);
}

/* 1 * K ^ 2^32 * K, by hand. */
Test(reader_profiled, ids_count_with_their_own_checksum)
{
    cr_expect_eq(judge(1, 0, 0x9e3779b97f4a7c15), OTELREAD_PROFILED_ATTACHED);
    cr_expect_eq(judge(0, 1, 0x7f4a7c1500000000), OTELREAD_PROFILED_ATTACHED);
    cr_expect_eq(judge(1, 1, 0xe17d05ac7f4a7c15), OTELREAD_PROFILED_ATTACHED);
    cr_expect_eq(judge(1, 1, 0xe17d05ac7f4a7c16), OTELREAD_PROFILED_TORN);
}

Test(reader_profiled, checksum_0_is_no_context)
{
    cr_expect_eq(judge(1, 1, 0), OTELREAD_PROFILED_DETACHED);
    cr_expect_eq(judge(0, 0, 0), OTELREAD_PROFILED_DETACHED);
}

Test(reader_profiled, zero_ids_have_a_checksum_of_all_ones_and_are_no_context)
{
    cr_expect_eq(judge(0, 0, UINT64_MAX), OTELREAD_PROFILED_DETACHED);
    cr_expect_eq(judge(0, 0, 1), OTELREAD_PROFILED_TORN);
}

Test(reader_profiled, each_status_has_a_name)
{
    cr_expect_str_eq(otelread_profiled_status_name(OTELREAD_PROFILED_NONE),
                     "none");
    cr_expect_str_eq(otelread_profiled_status_name(OTELREAD_PROFILED_ATTACHED),
                     "attached");
    cr_expect_str_eq(otelread_profiled_status_name(OTELREAD_PROFILED_DETACHED),
                     "detached");
    cr_expect_str_eq(otelread_profiled_status_name(OTELREAD_PROFILED_UNTOUCHED),
                     "untouched");
    cr_expect_str_eq(otelread_profiled_status_name(OTELREAD_PROFILED_TORN),
                     "torn");
    cr_expect_str_eq(
        otelread_profiled_status_name(OTELREAD_PROFILED_UNREADABLE),
        "unreadable");
}
