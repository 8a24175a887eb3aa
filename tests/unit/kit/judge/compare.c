/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/compare.h"

#include <criterion/criterion.h>
#include <string.h>

#define CONTEXT "{\"answer\":\"context\",\"resource\":{\"k\":\"v\"}}"
#define EITHER  "{\"answer\":\"either\",\"resource\":{\"k\":\"v\"}}"
#define NONE    "{\"answer\":\"none\"}"

static char why[128];

static enum otelkit_verdict compare(const char *expected, const char *answer)
{
    struct otelkit_json *const a =
        otelkit_json_parse(expected, strlen(expected));
    struct otelkit_json *const b = otelkit_json_parse(answer, strlen(answer));
    enum otelkit_verdict verdict;

    cr_assert(a && b, "%s, %s", expected, answer);
    verdict = otelkit_compare(a, b, why, sizeof(why));
    otelkit_json_free(a);
    otelkit_json_free(b);
    return verdict;
}

Test(kit_compare, what_is_expected_is_right)
{
    cr_expect_eq(compare(CONTEXT, CONTEXT), OTELKIT_RIGHT);
    cr_expect_eq(compare(NONE, NONE), OTELKIT_RIGHT);
    cr_expect_eq(compare(EITHER, NONE), OTELKIT_RIGHT);
    cr_expect_eq(compare(EITHER, CONTEXT), OTELKIT_RIGHT);
    cr_expect_str_eq(why, "");
}

Test(kit_compare, what_the_answer_does_not_mention_is_not_judged)
{
    cr_expect_eq(compare(CONTEXT, "{\"answer\":\"context\"}"), OTELKIT_RIGHT);
    cr_expect_eq(compare("{\"answer\":\"none\",\"threads\":[{\"tid\":1,"
                         "\"answer\":\"context\"}]}",
                         NONE),
                 OTELKIT_RIGHT);
}

Test(kit_compare, a_context_that_is_not_there_is_wrong)
{
    cr_expect_eq(compare(NONE, CONTEXT), OTELKIT_WRONG);
    cr_expect_eq(compare(CONTEXT, "{\"answer\":\"context\",\"resource\":"
                                  "{\"k\":\"w\"}}"),
                 OTELKIT_WRONG);
    cr_expect_eq(compare(EITHER, "{\"answer\":\"context\",\"resource\":{}}"),
                 OTELKIT_WRONG);
    cr_expect_str_eq(why, "resource differs");
}

Test(kit_compare, a_context_that_is_not_shown_is_refused)
{
    cr_expect_eq(compare(CONTEXT, NONE), OTELKIT_REFUSED);
    cr_expect_str_eq(why, "the context is not shown");
}

Test(kit_compare, an_answer_must_be_one_of_two_words)
{
    cr_expect_eq(compare(CONTEXT, "{\"answer\":\"either\"}"), OTELKIT_UNCLEAR);
    cr_expect_eq(compare(CONTEXT, "{\"answer\":true}"), OTELKIT_UNCLEAR);
}

#define THREAD(answer)                                                         \
    "{\"answer\":\"none\",\"threads\":[{\"tid\":7,\"answer\":\"" answer        \
    "\",\"trace_id\":\"ab\",\"trace_flags\":1,\"attributes\":{\"a\":\"b\"}}]}"

Test(kit_compare, threads_are_compared_by_their_ids)
{
    cr_expect_eq(compare(THREAD("context"), THREAD("context")), OTELKIT_RIGHT);
    cr_expect_eq(compare(THREAD("context"), THREAD("none")), OTELKIT_REFUSED);
    cr_expect_eq(compare(THREAD("none"), THREAD("context")), OTELKIT_WRONG);
    cr_expect_str_eq(why, "thread 7: a context is shown where there is none");
    cr_expect_eq(
        compare(THREAD("context"), "{\"answer\":\"none\",\"threads\":[]}"),
        OTELKIT_REFUSED);
    cr_expect_eq(
        compare(THREAD("none"), "{\"answer\":\"none\",\"threads\":[]}"),
        OTELKIT_RIGHT);
    cr_expect_eq(compare(THREAD("either"),
                         "{\"answer\":\"none\",\"threads\":[{\"tid\":7,"
                         "\"answer\":\"context\",\"trace_flags\":0}]}"),
                 OTELKIT_WRONG);
}

#define NUMBERED "{\"answer\":\"context\",\"check\":\"numbered\"}"

Test(kit_compare, numbered_values_belong_together)
{
    cr_expect_eq(compare(NUMBERED, "{\"answer\":\"context\",\"resource\":"
                                   "{\"k0\":\"41\",\"k1\":\"41\"}}"),
                 OTELKIT_RIGHT);
    cr_expect_eq(compare(NUMBERED, "{\"answer\":\"context\",\"resource\":"
                                   "{\"k0\":\"41\",\"k1\":\"42\"}}"),
                 OTELKIT_WRONG);
    cr_expect_eq(compare(NUMBERED, "{\"answer\":\"context\",\"resource\":"
                                   "{\"k0\":\"42\",\"k1\":\"42\"}}"),
                 OTELKIT_WRONG, "42 has three");
    cr_expect_eq(compare(NUMBERED, "{\"answer\":\"context\",\"resource\":{}}"),
                 OTELKIT_WRONG);
}

#define PAIRED                                                                 \
    "{\"answer\":\"none\",\"threads\":[{\"tid\":7,\"answer\":\"either\","      \
    "\"check\":\"paired\"}]}"
#define IDS(trace, span)                                                       \
    "{\"answer\":\"none\",\"threads\":[{\"tid\":7,\"answer\":\"context\","     \
    "\"trace_id\":\"" trace "\",\"span_id\":\"" span "\"}]}"

Test(kit_compare, paired_ids_belong_together)
{
    cr_expect_eq(compare(PAIRED, IDS("00000000000000ab00000000000000ab",
                                     "ffffffffffffff54")),
                 OTELKIT_RIGHT);
    cr_expect_eq(compare(PAIRED, IDS("00000000000000ab00000000000000ac",
                                     "ffffffffffffff53")),
                 OTELKIT_WRONG);
    cr_expect_eq(compare(PAIRED, IDS("00000000000000ab00000000000000ab",
                                     "ffffffffffffff53")),
                 OTELKIT_WRONG);
    cr_expect_eq(compare(PAIRED, NONE), OTELKIT_RIGHT);
}

Test(kit_compare, of_several_faults_the_worst_counts)
{
    cr_expect_eq(
        compare("{\"answer\":\"context\",\"threads\":[{\"tid\":7,\"answer\":"
                "\"none\"}]}",
                "{\"answer\":\"none\",\"threads\":[{\"tid\":7,\"answer\":"
                "\"context\"}]}"),
        OTELKIT_WRONG);
}

Test(kit_compare, each_verdict_has_a_name)
{
    for (int i = 0; i < OTELKIT_VERDICTS; i++)
        cr_expect_neq(otelkit_verdict_name((enum otelkit_verdict)i), NULL);
}
