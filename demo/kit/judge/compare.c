/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/compare.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One comparison. It reports the first difference of the worst kind. */
struct comparison {
    enum otelkit_verdict verdict;
    char *why;
    size_t why_size;
};

static void find_fault(struct comparison *comparison,
                       enum otelkit_verdict verdict, const char *where,
                       const char *what)
{
    if (verdict <= comparison->verdict)
        return;
    comparison->verdict = verdict;
    (void)snprintf(comparison->why, comparison->why_size, "%s%s", where, what);
}

const char *otelkit_verdict_name(enum otelkit_verdict verdict)
{
    static const char *const names[OTELKIT_VERDICTS] = {
        [OTELKIT_NOT_STAGED] = "not staged",
        [OTELKIT_RIGHT] = "right",
        [OTELKIT_REFUSED] = "refused",
        [OTELKIT_UNCLEAR] = "unclear",
        [OTELKIT_STOPPED] = "stopped",
        [OTELKIT_MEMORY] = "memory",
        [OTELKIT_HUNG] = "hung",
        [OTELKIT_CRASHED] = "crashed",
        [OTELKIT_WRONG] = "wrong"};

    return names[verdict];
}

/* "numbered": n values, each the number u, and n = 1 + u % 40. */
static bool is_numbered(const struct otelkit_json *resource)
{
    const struct otelkit_json *const first = resource ? resource->first : NULL;

    if (!first || first->kind != OTELKIT_JSON_STRING)
        return false;
    for (const struct otelkit_json *one = first; one; one = one->next) {
        if (!otelkit_json_is(one, first->text))
            return false;
    }
    return otelkit_json_count(resource) ==
           1 + strtoul(first->text, NULL, 10) % 40;
}

/* "paired": the trace id is a number twice, the span id its complement. */
static bool is_paired(const struct otelkit_json *thread)
{
    const struct otelkit_json *const trace =
        otelkit_json_get(thread, "trace_id");
    const struct otelkit_json *const span = otelkit_json_get(thread, "span_id");

    if (!trace || !span || trace->kind != OTELKIT_JSON_STRING ||
        span->kind != OTELKIT_JSON_STRING || trace->size != 32 ||
        span->size != 16 || memcmp(trace->text, trace->text + 16, 16) != 0)
        return false;
    return strtoull(trace->text + 16, NULL, 16) ==
           ~strtoull(span->text, NULL, 16);
}

/* Return whether both objects show a context, so that their members can be
 * compared. */
static bool answers_compare(struct comparison *comparison,
                            const struct otelkit_json *expected,
                            const struct otelkit_json *answer,
                            const char *where)
{
    const struct otelkit_json *const wanted =
        otelkit_json_get(expected, "answer");
    const struct otelkit_json *const got = otelkit_json_get(answer, "answer");
    const bool shown = otelkit_json_is(got, "context");

    if (!shown && !otelkit_json_is(got, "none"))
        find_fault(comparison, OTELKIT_UNCLEAR, where,
                   "the answer is neither \"context\" nor \"none\"");
    else if (shown && otelkit_json_is(wanted, "none"))
        find_fault(comparison, OTELKIT_WRONG, where,
                   "a context is shown where there is none");
    else if (!shown && otelkit_json_is(wanted, "context"))
        find_fault(comparison, OTELKIT_REFUSED, where,
                   "the context is not shown");
    return shown && !otelkit_json_is(wanted, "none");
}

static void member_compare(struct comparison *comparison,
                           const struct otelkit_json *expected,
                           const struct otelkit_json *answer, const char *key,
                           const char *where)
{
    const struct otelkit_json *const wanted = otelkit_json_get(expected, key);
    const struct otelkit_json *const got = otelkit_json_get(answer, key);
    char what[64];

    if (!wanted || !got || otelkit_json_equal(wanted, got))
        return;
    (void)snprintf(what, sizeof(what), "%s differs", key);
    find_fault(comparison, OTELKIT_WRONG, where, what);
}

static const struct otelkit_json *
thread_find(const struct otelkit_json *threads, double tid)
{
    for (const struct otelkit_json *one = threads->first; one;
         one = one->next) {
        const struct otelkit_json *const found = otelkit_json_get(one, "tid");

        if (found && found->kind == OTELKIT_JSON_NUMBER &&
            !(found->number < tid) && !(found->number > tid))
            return one;
    }
    return NULL;
}

static void thread_compare(struct comparison *comparison,
                           const struct otelkit_json *expected,
                           const struct otelkit_json *answer, double tid)
{
    static const char *const members[] = {"trace_id", "span_id", "trace_flags",
                                          "attributes"};
    char where[48];

    (void)snprintf(where, sizeof(where), "thread %.0f: ", tid);
    if (!answer) {
        if (otelkit_json_is(otelkit_json_get(expected, "answer"), "context"))
            find_fault(comparison, OTELKIT_REFUSED, where,
                       "the context is not shown");
        return;
    }
    if (!answers_compare(comparison, expected, answer, where))
        return;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        member_compare(comparison, expected, answer, members[i], where);
    if (otelkit_json_is(otelkit_json_get(expected, "check"), "paired") &&
        !is_paired(answer))
        find_fault(comparison, OTELKIT_WRONG, where,
                   "its ids do not belong together");
}

/* A thread without an expectation must have no context. */
static void threads_compare(struct comparison *comparison,
                            const struct otelkit_json *expected,
                            const struct otelkit_json *answer)
{
    if (!expected || !answer)
        return;
    for (const struct otelkit_json *one = expected->first; one;
         one = one->next) {
        const struct otelkit_json *const tid = otelkit_json_get(one, "tid");

        if (tid)
            thread_compare(comparison, one, thread_find(answer, tid->number),
                           tid->number);
    }
}

enum otelkit_verdict otelkit_compare(const struct otelkit_json *expected,
                                     const struct otelkit_json *answer,
                                     char *why, size_t why_size)
{
    struct comparison comparison = {OTELKIT_RIGHT, why, why_size};

    (void)snprintf(why, why_size, "%s", "");
    if (answers_compare(&comparison, expected, answer, "")) {
        member_compare(&comparison, expected, answer, "resource", "");
        member_compare(&comparison, expected, answer, "extra", "");
        if (otelkit_json_is(otelkit_json_get(expected, "check"), "numbered") &&
            otelkit_json_get(answer, "resource") &&
            !is_numbered(otelkit_json_get(answer, "resource")))
            find_fault(&comparison, OTELKIT_WRONG, "",
                       "parts of several updates are mixed");
    }
    threads_compare(&comparison, otelkit_json_get(expected, "threads"),
                    otelkit_json_get(answer, "threads"));
    threads_compare(&comparison, otelkit_json_get(expected, "ring"),
                    otelkit_json_get(answer, "ring"));
    return comparison.verdict;
}
