/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/follow.h"

#include "demo/reader/clock.h"

#define PAUSE_MIN_NS 100000000U
#define PAUSE_MAX_NS 2000000000U

/* Looking through maps may take one part in so many of the time. */
#define SCAN_SHARE 20

/* Polls until a context that stays busy is worth a word. */
#define BUSY_POLLS 10

static bool has_context(const struct otelread_report *report)
{
    return report->count > 0 && report->contexts[0].established;
}

/*
 * OTEP 4719, "Reading Protocol": while the timestamp is the same, so is the
 * context. One read of eight bytes a context.
 */
static bool is_unchanged(struct otelread_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct otelread_context *const context = &report->contexts[i];
        uint64_t now;

        if (context->status == OTELREAD_BUSY ||
            otelread_target_read(
                &report->target,
                context->mapping.start +
                    offsetof(struct otelctx_header, published_at_ns),
                &now, sizeof(now)) != 0 ||
            now != context->header.published_at_ns)
            return false;
    }
    return has_context(report);
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * 0x100000001b3U;
}

/* The same as long as there is nothing new to say. */
static uint64_t digest_of(const struct otelread_report *report)
{
    uint64_t digest = mix(0xcbf29ce484222325U, (uint64_t)report->status);

    for (size_t i = 0; i < report->count; i++) {
        const struct otelread_context *const context = &report->contexts[i];

        digest = mix(digest, context->mapping.start);
        digest = mix(digest, (uint64_t)context->status);
        if (context->status != OTELREAD_BUSY)
            digest = mix(digest, context->header.published_at_ns);
    }
    return digest;
}

/* Of all processes, most never have a context: look at those less often. */
static void plan_scan(struct otelread_follow *follow, uint64_t start_ns)
{
    const uint64_t now_ns = otelread_boottime_ns();
    const uint64_t share_ns = SCAN_SHARE * (now_ns - start_ns);

    if (!follow->quiet || has_context(&follow->report))
        follow->pause_ns = PAUSE_MIN_NS;
    else if (follow->pause_ns < PAUSE_MAX_NS)
        follow->pause_ns += follow->pause_ns + PAUSE_MIN_NS;
    follow->next_scan_ns =
        now_ns + (share_ns > follow->pause_ns ? share_ns : follow->pause_ns);
}

static void look(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;
    const uint64_t start_ns = otelread_boottime_ns();

    if (follow->started)
        otelread_report_update(report, OTELREAD_PATIENCE_SHORT);
    else
        otelread_report_make(report, follow->pid, OTELREAD_PATIENCE_SHORT);
    plan_scan(follow, start_ns);

    if (!follow->started)
        follow->born = report->target.started;
    else if (report->target.found && report->target.started != follow->born)
        otelread_report_judge(report, OTELREAD_NO_PROCESS, "%s", "");
}

/* Gone for good, or as good as gone. */
static void conclude(struct otelread_follow *follow)
{
    struct otelread_report *const report = &follow->report;

    follow->ended =
        report->status == OTELREAD_NO_PROCESS ||
        (report->status == OTELREAD_NO_PERMISSION && !follow->quiet);
    if (report->status == OTELREAD_NO_PROCESS && follow->started) {
        otelread_report_free(report);
        report->target.pid = follow->pid;
        otelread_report_judge(report, OTELREAD_NO_PROCESS,
                              "the process has ended");
    } else {
        follow->last = report->status;
    }
    if (report->status == OTELREAD_NO_CONTEXT && follow->had_one)
        otelread_report_judge(report, OTELREAD_NO_CONTEXT,
                              "the context was dropped");
}

static bool is_worth_a_word(struct otelread_follow *follow)
{
    const enum otelread_status status = follow->report.status;

    follow->busy = status == OTELREAD_BUSY ? follow->busy + 1 : 0;
    if (status == OTELREAD_BUSY)
        return follow->busy == BUSY_POLLS;
    if (follow->started && digest_of(&follow->report) == follow->digest)
        return false;
    return !follow->quiet || follow->had_one ||
           (status != OTELREAD_NO_CONTEXT && status != OTELREAD_NO_PROCESS &&
            status != OTELREAD_NO_PERMISSION);
}

void otelread_follow_poll(struct otelread_follow *follow,
                          struct otelread_output *output)
{
    struct otelread_report *const report = &follow->report;

    if (follow->started && (is_unchanged(report) ||
                            (!has_context(report) &&
                             otelread_boottime_ns() < follow->next_scan_ns)))
        return;

    look(follow);
    if (report->no_memory && follow->had_one) {
        otelread_report_trim(report);
        return; /* it is ending, and has dropped nothing: wait for that */
    }
    conclude(follow);
    if (is_worth_a_word(follow)) {
        otelread_show(output, report);
        follow->digest = digest_of(report);
        follow->had_one = report->count > 0;
    }
    follow->was_ok = follow->was_ok || report->status == OTELREAD_OK;
    follow->started = true;
    otelread_report_trim(report);
}

void otelread_follow_free(struct otelread_follow *follow)
{
    otelread_report_free(&follow->report);
}
