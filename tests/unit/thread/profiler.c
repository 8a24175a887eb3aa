/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/profiler.h"

#include <criterion/criterion.h>

/* Literal values of java-profiler's Contexts::checksum(). */
Test(profiler, has_the_checksum_of_the_text)
{
    cr_expect_eq(otelctx_profiler_checksum(1, 0), 0x9e3779b97f4a7c15);
    cr_expect_eq(otelctx_profiler_checksum(0, 1), 0x7f4a7c1500000000);
    cr_expect_eq(otelctx_profiler_checksum(1, 2), 0x60a381937f4a7c15);
    cr_expect_eq(
        otelctx_profiler_checksum(0x00f067aa0ba902b7, 0xa3ce929d0e0e4736),
        0x8393c0b1a74bcfe2);
}

Test(profiler, has_no_checksum_of_0_because_that_means_none)
{
    cr_expect_eq(otelctx_profiler_checksum(0, 0), UINT64_MAX);
    cr_expect_eq(otelctx_profiler_checksum(UINT64_C(1) << 32, 1), UINT64_MAX);
}

Test(profiler, shows_the_ids_of_the_calling_thread)
{
    cr_expect_eq(context_tls_v1.checksum, 0);
    otelctx_profiler_show(1, 2);
    cr_expect_eq(context_tls_v1.span_id, 1);
    cr_expect_eq(context_tls_v1.root_span_id, 2);
    cr_expect_eq(context_tls_v1.checksum, 0x60a381937f4a7c15);
    otelctx_profiler_show(0, 0);
    cr_expect_eq(context_tls_v1.span_id, 0);
    cr_expect_eq(context_tls_v1.root_span_id, 0);
    cr_expect_eq(context_tls_v1.checksum, UINT64_MAX);
}

Test(profiler, keeps_its_tags_when_other_ids_are_shown)
{
    for (unsigned i = 0; i < OTELCTX_PROFILER_TAGS; i++)
        otelctx_profiler_tag(i, 100 + i);
    otelctx_profiler_show(1, 2);
    for (unsigned i = 0; i < OTELCTX_PROFILER_TAGS; i++)
        cr_expect_eq(context_tls_v1.tags[i], 100 + i);
    cr_expect_eq(context_tls_v1.checksum, 0x60a381937f4a7c15);
}

/* A profiler's signal handler may read it on every thread: one access. */
Test(profiler, uses_the_same_variable_with_and_without_its_tls_offset)
{
    otelctx_profiler_show(1, 2);
    otelctx_profiler_cache_tls_offset();
    otelctx_profiler_show(3, 4);
    cr_expect_eq(context_tls_v1.span_id, 3);
    cr_expect_eq(context_tls_v1.root_span_id, 4);
    cr_expect_eq((uintptr_t)&context_tls_v1 % 64, 0);
}
