/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/command/follow.h"

#include "demo/base/hash.h"
#include "demo/reader/command/effort.h"
#include "demo/reader/os/clock.h"
#include "demo/reader/os/memory.h"
#include "demo/reader/report/judge.h"

#define PAUSE_MIN_NS 100000000U
#define PAUSE_MAX_NS 2000000000U

/* After so many polls a context that stays busy is reported. */
#define BUSY_POLLS 10

/* Changes when the report does. */
static uint64_t digest_of(const struct otelread_report *report)
{
    uint64_t digest = otelbase_hash_number(OTELBASE_HASH, report->status);

    for (size_t i = 0; i < report->contexts.count; i++) {
        const struct otelread_context *const context =
            &report->contexts.list[i];

        digest = otelbase_hash_number(digest, context->mapping.start);
        digest = otelbase_hash_number(digest, context->status);
        if (context->status != OTELREAD_BUSY)
            digest =
                otelbase_hash_number(digest, otelread_context_stamp(context));
    }
    return digest;
}

/* Most processes never have a context: search those less often. */
static void plan_scan(struct otelread_follow *follow,
                      const struct otelread_effort *effort)
{
    const uint64_t least_ns = otelread_effort_pause_ns(effort, 0);

    if (!follow->quiet ||
        otelread_contexts_established(&follow->report.contexts))
        follow->pause_ns = PAUSE_MIN_NS;
    else if (follow->pause_ns < PAUSE_MAX_NS)
        follow->pause_ns += follow->pause_ns + PAUSE_MIN_NS;
    follow->next_scan_ns =
        otelread_boottime_ns() +
        (least_ns > follow->pause_ns ? least_ns : follow->pause_ns);
}

/* Reading silent memory takes long, so an end is noticed without it. */
static bool is_early(const struct otelread_follow *follow)
{
    const struct otelread_target *const target = &follow->report.target;

    return !otelread_contexts_established(&follow->report.contexts) &&
           otelread_boottime_ns() < follow->next_scan_ns &&
           !(target->silent && otelread_target_check(target) != 0);
}

static void read_again(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;
    struct otelread_effort effort;

    otelread_effort_begin(&effort);
    if (follow->started && !follow->moved)
        otelread_report_update(report, OTELREAD_PATIENCE_SHORT);
    else
        otelread_report_make(report, follow->pid, OTELREAD_PATIENCE_SHORT);
    follow->moved = false;
    plan_scan(follow, &effort);

    if (!follow->started)
        follow->born = report->target.started;
    else if (report->target.found && report->target.started != follow->born)
        otelread_judge(report, OTELREAD_NO_PROCESS, "%s", "");
}

/* Sets ended, last, and the messages that only a watcher needs. */
static void follow_status(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;

    follow->ended =
        report->status == OTELREAD_NO_PROCESS ||
        (report->status == OTELREAD_NO_PERMISSION && !follow->quiet);
    if (report->status == OTELREAD_NO_PROCESS && follow->started) {
        otelread_report_free(report);
        report->target.pid = follow->pid;
        otelread_judge(report, OTELREAD_NO_PROCESS, "the process has ended");
    } else {
        follow->last = report->status;
    }
    if (report->status == OTELREAD_NO_CONTEXT && follow->had_one)
        otelread_judge(report, OTELREAD_NO_CONTEXT, "the context was dropped");
}

static bool has_news(struct otelread_follow *follow)
{
    const enum otelread_status status = follow->report.status;

    follow->busy = status == OTELREAD_BUSY ? follow->busy + 1 : 0;
    if (status == OTELREAD_BUSY) /* a silent target has waited long already */
        return follow->busy == (follow->report.target.silent ? 1 : BUSY_POLLS);
    if (follow->started && digest_of(&follow->report) == follow->digest)
        return false;
    return !follow->quiet || follow->had_one ||
           (status != OTELREAD_NO_CONTEXT && status != OTELREAD_NO_PROCESS &&
            status != OTELREAD_NO_PERMISSION);
}

/* ---- its threads -------------------------------------------------------- */

static bool are_threads_due(const struct otelread_follow *follow)
{
    const struct otelread_report *const report = &follow->report;

    return follow->depth != OTELREAD_DEPTH_PROCESS &&
           (otelread_contexts_established(&report->contexts) ||
            (report->threads &&
             otelread_threads_have_storage(report->threads))) &&
           otelread_boottime_ns() >= follow->next_threads_ns;
}

static uint64_t longest_stop_ns(const struct otelread_sample *sample)
{
    uint64_t longest_ns = 0;

    for (size_t i = 0; i < sample->count; i++) {
        if (sample->threads[i].stopped_ns > longest_ns)
            longest_ns = sample->threads[i].stopped_ns;
    }
    return longest_ns;
}

/*
 * Returns whether there is something new to show. Sets follow->moved when the
 * process began another program meanwhile.
 */
static bool read_threads(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;
    const uint64_t before = follow->changes.status;
    struct otelread_effort effort;

    otelread_effort_begin(&effort);
    follow->moved = otelread_report_read_threads(
                        report, follow->depth == OTELREAD_DEPTH_STOPPED) != 0;
    if (follow->moved || !report->threads)
        return false;

    follow->next_threads_ns =
        otelread_boottime_ns() +
        otelread_effort_pause_ns(&effort,
                                 longest_stop_ns(&report->threads->sample));
    const bool news = otelread_changes_keep(&follow->changes, report->threads);

    report->only_threads = follow->changes.status == before;
    return news && (!follow->quiet || follow->had_one);
}

/* ---- both --------------------------------------------------------------- */

static void show(struct otelread_follow *follow, struct otelread_output *output)
{
    struct otelread_report *const report = &follow->report;

    otelread_show(output, report);
    follow->digest = digest_of(report);
    follow->had_one = report->contexts.count > 0;
}

/* Watchers have many targets. The key map of threads is in their context. */
static void trim(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;

    if (follow->depth == OTELREAD_DEPTH_PROCESS ||
        !otelread_contexts_established(&report->contexts))
        otelread_report_trim(report);
    else
        otelread_target_trim(&report->target);
}

void otelread_follow_poll(struct otelread_follow *follow,
                          struct otelread_output *output)
{
    struct otelread_report *const report = &follow->report;

    if (follow->started && !follow->moved &&
        (otelread_report_is_unchanged(report) || is_early(follow))) {
        if (are_threads_due(follow) && read_threads(follow))
            show(follow, output);
        otelread_target_trim(&report->target);
        return;
    }

    read_again(follow);
    if (report->contexts.no_memory && follow->had_one) {
        otelread_report_trim(report);
        return; /* it is ending, and has not dropped its context */
    }
    follow_status(follow);
    bool news = has_news(follow);
    if (news) /* also about each thread */
        otelread_changes_free(&follow->changes);
    if (follow->depth != OTELREAD_DEPTH_PROCESS &&
        (news || report->status == OTELREAD_OK))
        news = read_threads(follow) || news;
    if (news && !follow->moved)
        show(follow, output);
    follow->was_ok = follow->was_ok || report->status == OTELREAD_OK;
    follow->started = true;
    trim(follow);
}

void otelread_follow_free(struct otelread_follow *follow)
{
    otelread_report_free(&follow->report);
    otelread_changes_free(&follow->changes);
}
