/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/table.h"

#include "tests/unit/top/timeline/lines.h"

/* Two spans of one trace, on two threads, and a stretch without context. */
static const char text[] = LINES_START LINES_SPAN("1", "1", "/cart")
    LINES_SPAN("2", "2", "/items") SAMPLE("20", "1", "'span':1", "R", "9")
        SAMPLE("20", "2", "'span':2", "R", "4")
            SAMPLE("30", "1", "'span':1", "R", "9")
                SAMPLE("30", "2", "'none':'detached'", "R", "2")
                    SAMPLE("100", "1", "'span':1", "R", "9");

static void expect_sum(const struct oteltime_sum *sum, uint64_t cpu_ms,
                       uint64_t samples, size_t threads, uint64_t longest_ms)
{
    cr_expect_eq(sum->cpu_ns, cpu_ms * 1000000);
    cr_expect_eq(sum->wall_ns, samples * 10000000);
    cr_expect_eq(sum->samples, samples);
    cr_expect_eq(sum->threads, threads);
    cr_expect_eq(sum->longest_ns, longest_ms * 1000000, "%d ms",
                 (int)(sum->longest_ns / 1000000));
}

Test(top_table, by_service_everything_is_one_sum)
{
    struct oteltime_timeline timeline = lines_read(text);
    struct oteltime_table table =
        oteltime_table_make(&timeline, OTELTIME_BY_SERVICE);

    cr_assert_eq(table.count, 1);
    expect_sum(&table.sums[0], 33, 5, 2, 90);
    free(table.sums);
    oteltime_timeline_free(&timeline);
}

Test(top_table, by_attributes_the_most_processor_time_comes_first)
{
    struct oteltime_timeline timeline = lines_read(text);
    struct oteltime_table table =
        oteltime_table_make(&timeline, OTELTIME_BY_SET);

    cr_assert_eq(table.count, 3);
    expect_sum(&table.sums[0], 27, 3, 1, 90);
    expect_sum(&table.sums[1], 4, 1, 1, 10);
    expect_sum(&table.sums[2], 2, 1, 1, 0);
    cr_expect_eq(table.sums[2].set, OTELBASE_NOTHING);
    cr_expect_neq(table.sums[2].none, OTELBASE_NOTHING);
    free(table.sums);
    oteltime_timeline_free(&timeline);
}

Test(top_table, by_trace_spans_of_all_threads_count)
{
    struct oteltime_timeline timeline = lines_read(text);
    struct oteltime_table table =
        oteltime_table_make(&timeline, OTELTIME_BY_TRACE);

    cr_assert_eq(table.count, 2);
    expect_sum(&table.sums[0], 31, 4, 2, 90);
    cr_expect_eq(table.sums[0].trace, 0);
    expect_sum(&table.sums[1], 2, 1, 1, 0);
    cr_expect_eq(table.sums[1].trace, OTELBASE_NOTHING);
    free(table.sums);
    oteltime_timeline_free(&timeline);
}

Test(top_table, without_samples_it_is_empty)
{
    struct oteltime_timeline timeline = lines_read(LINES_START);
    struct oteltime_table table =
        oteltime_table_make(&timeline, OTELTIME_BY_SET);

    cr_expect_eq(table.count, 0);
    free(table.sums);
    oteltime_timeline_free(&timeline);
}
