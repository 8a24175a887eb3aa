/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/model.h"

#include "tests/unit/top/timeline/lines.h"

#include <criterion/criterion.h>

static struct oteltime_timeline timeline;

static const struct oteltime_box *box(size_t number)
{
    cr_assert_lt(number, timeline.box_count);
    return &timeline.boxes[number];
}

static void expect_text(size_t text, const char *expected)
{
    cr_expect_str_eq(oteltime_timeline_text(&timeline, text)->bytes, expected);
}

Test(top_model, samples_of_one_span_make_one_box)
{
    timeline =
        lines_read(LINES_START LINES_SPAN("1", "1", "/cart")
                       SAMPLE("20", "1", "\"span\":1", "R", "9")
                           SAMPLE("30", "1", "\"span\":1", "D", "1")
                               SAMPLE("40", "1", "\"span\":1", "R", "10"));
    cr_assert_eq(timeline.box_count, 1);
    cr_expect_eq(box(0)->start_ns, 10000000);
    cr_expect_eq(box(0)->end_ns, 40000000);
    cr_expect_eq(box(0)->cpu_ns, 20000000);
    cr_expect_eq(box(0)->wall_ns, 30000000);
    cr_expect_eq(box(0)->samples, 3);
    cr_expect_eq(box(0)->running, 2);
    cr_expect_eq(timeline.samples, 3);
    expect_text(box(0)->service, "shop");
    oteltime_timeline_free(&timeline);
}

/* The rate is 100 Hz: the third of these begins 30 ms behind, the last more. */
Test(top_model, a_gap_of_more_than_three_periods_ends_a_box)
{
    timeline =
        lines_read(LINES_START LINES_SPAN("1", "1", "/cart")
                       SAMPLE("20", "1", "\"span\":1", "R", "9")
                           SAMPLE("60", "1", "\"span\":1", "R", "9")
                               SAMPLE("101", "1", "\"span\":1", "R", "10"));
    cr_assert_eq(timeline.box_count, 2);
    cr_expect_eq(box(0)->end_ns, 60000000);
    cr_expect_eq(box(0)->wall_ns, 20000000);
    cr_expect_eq(box(1)->start_ns, 91000000);
    oteltime_timeline_free(&timeline);
}

Test(top_model, the_gap_follows_the_rate)
{
    timeline = lines_read(LINES_START LINES_SPAN("1", "1", "/cart") SAMPLE(
        "20", "1", "\"span\":1", "R", "9") LINE("'t':25000000,'hz':50")
                              SAMPLE("90", "1", "\"span\":1", "R", "9"));
    cr_expect_eq(timeline.box_count, 1);
    oteltime_timeline_free(&timeline);
}

Test(top_model, another_span_reason_or_thread_is_another_box)
{
    timeline = lines_read(
        LINES_START LINES_SPAN("1", "1", "/cart") LINES_SPAN("2", "2", "/cart")
            SAMPLE("20", "1", "\"span\":1", "R",
                   "9") SAMPLE("20", "2", "\"span\":1", "R", "9")
                SAMPLE("30", "1", "\"span\":2", "R", "9")
                    SAMPLE("40", "1", "\"none\":\"detached\"", "R", "9")
                        SAMPLE("50", "1", "\"none\":\"invalid\"", "R", "9"));
    cr_expect_eq(timeline.box_count, 5);
    cr_expect_eq(box(3)->span, OTELBASE_NOTHING);
    expect_text(box(3)->none, "detached");
    cr_expect_eq(timeline.rows[0].box_count, 4);
    cr_expect_eq(timeline.rows[1].box_count, 1);
    oteltime_timeline_free(&timeline);
}

Test(top_model, boxes_of_a_thread_do_not_overlap)
{
    timeline = lines_read(
        LINES_START LINES_SPAN("1", "1", "/cart")
            SAMPLE("20", "1", "\"span\":1", "R", "9")
                SAMPLE("25", "1", "\"none\":\"detached\"", "R", "5"));
    cr_expect_eq(box(1)->start_ns, 20000000);
    cr_expect_eq(box(1)->end_ns, 25000000);
    oteltime_timeline_free(&timeline);
}

Test(top_model, a_number_may_get_another_meaning)
{
    timeline = lines_read(
        LINES_START LINES_SPAN("1", "1", "/cart") SAMPLE(
            "20", "1", "\"span\":1", "R", "9") LINES_SPAN("1", "2", "/cart")
            SAMPLE("30", "1", "\"span\":1", "R", "9")
                LINE("'process':1,'pid':7,'resource':{'service.name':'cart'}")
                    SAMPLE("40", "1", "\"span\":1", "R", "9")
                        LINE("'process':1,'pid':8")
                            LINE("'thread':1,'process':1,'tid':8")
                                SAMPLE("50", "1", "\"span\":1", "R", "9"));
    cr_assert_eq(timeline.box_count, 4);
    cr_expect_neq(box(0)->span, box(1)->span);
    expect_text(box(1)->service, "shop");
    expect_text(box(2)->service, "cart");
    cr_expect_eq(box(2)->row, box(1)->row, "the same process, another context");
    cr_expect_neq(box(3)->row, box(2)->row, "another process");
    cr_expect_eq(timeline.process_count, 2);
    oteltime_timeline_free(&timeline);
}

Test(top_model, the_same_context_is_one_whatever_its_number)
{
    timeline = lines_read(LINES_START LINES_SPAN("1", "1", "/cart") LINES_SPAN(
        "9", "1", "/cart") LINES_SPAN("3", "1", "/items"));
    cr_expect_eq(timeline.span_count, 2);
    cr_expect_eq(timeline.traces.count, 1);
    cr_expect_eq(timeline.identities.count, 1);
    oteltime_timeline_free(&timeline);
}

Test(top_model, the_order_of_attributes_does_not_matter)
{
    timeline = lines_read(LINES_START LINE(
        "'span':1,'trace_id':'" LINES_ID "','span_id':'0000000000000001',"
        "'attributes':{'a':'1','ab':'2','b':'3'}")
                              LINE("'span':2,'trace_id':'" LINES_ID
                                   "','span_id':'0000000000000001',"
                                   "'attributes':{'b':'3','ab':'2','a':'1'}"));
    cr_expect_eq(timeline.span_count, 1);
    oteltime_timeline_free(&timeline);
}

Test(top_model, the_end_of_a_process_and_of_the_recording_are_kept)
{
    timeline = lines_read(LINES_START LINE("'gone':1,'t':5") LINE(
        "'end':60,'stops':1,'stopped_ns':2,'longest_ns':3"));
    cr_expect(timeline.processes[0].gone);
    cr_expect_eq(timeline.processes[0].gone_ns, 5);
    cr_expect_eq(timeline.end_ns, 60);
    cr_expect_eq(timeline.stopped_ns, 2);
    cr_expect(timeline.complete);
    oteltime_timeline_free(&timeline);
}

Test(top_model, what_nobody_introduced_is_refused)
{
    lines_refused(LINES_START SAMPLE("20", "3", "\"none\":\"x\"", "R", "9"),
                  "no line introduces this thread");
    lines_refused(LINES_START SAMPLE("20", "1", "\"span\":3", "R", "9"),
                  "no line introduces this span");
    lines_refused(LINES_START LINE("'thread':3,'process':3,'tid':3"),
                  "no line introduces the process of this thread");
    lines_refused(LINES_START LINE("'gone':3,'t':5"),
                  "no line introduces this process");
    lines_refused(LINES_START SAMPLE("20", "1", "\"none\":\"x\"", "R", "9")
                      SAMPLE("19", "1", "\"none\":\"x\"", "R", "9"),
                  "the time goes back on this thread");
}
