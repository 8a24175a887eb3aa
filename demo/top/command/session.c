/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/command/session.h"

#include "demo/reader/os/clock.h"
#include "demo/top/command/complain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The period of replaying a recording that is shown live. */
#define REPLAY_HZ 50

#define SECOND_NS 1000000000U

/* ---- what samples do ---------------------------------------------------- */

static void take_sample(void *self, const struct oteltop_sample *sample)
{
    struct oteltop_session *const session = self;

    oteltop_window_add(&session->window, sample);
    if (session->wants_total)
        oteltop_window_add(&session->total, sample);
    if (session->record.json.out)
        oteltop_record_sample(&session->record, sample);
}

static void take_gone(void *self, const struct oteltop_process *process,
                      uint64_t at_ns)
{
    struct oteltop_session *const session = self;

    if (session->record.json.out)
        oteltop_record_gone(&session->record, process, at_ns);
}

static void take_rate(void *self, unsigned hz, uint64_t at_ns)
{
    struct oteltop_session *const session = self;

    if (session->record.json.out)
        oteltop_record_rate(&session->record, hz, at_ns);
}

/* ---- a recording that is written ---------------------------------------- */

static int open_record(struct oteltop_session *session)
{
    const struct oteltop_options *const options = session->options;

    if (!options->record)
        return 0;
    session->record.json.out = fopen(options->record, "we");
    if (!session->record.json.out)
        return oteltop_complain(options->record, errno);
    oteltop_record_begin(&session->record, session->start_unix_ns, options->hz,
                         options->wall);
    return 0;
}

static int close_record(struct oteltop_session *session)
{
    const struct oteltop_cost *const cost = &session->collector.cost;
    FILE *const out = session->record.json.out;

    if (!out)
        return 0;
    oteltop_record_end(&session->record, oteltop_session_at_ns(session),
                       cost->stops, cost->stopped_ns, cost->longest_ns);
    return oteltop_close(out, session->options->record);
}

/* ---- a recording that is read ------------------------------------------- */

static int check_replay(const struct oteltop_session *session, int error)
{
    const char *const path = session->options->replay;
    const struct oteltop_fault *const fault = &session->replay.recording.fault;
    char place[64];

    if (error == 0)
        return 0;
    if (error != -EINVAL || !fault->why)
        return oteltop_complain(path, -error);
    if (fault->byte > 0)
        (void)snprintf(place, sizeof(place), "%zu:%zu", fault->line,
                       fault->byte);
    else
        (void)snprintf(place, sizeof(place), "%zu", fault->line);
    return oteltop_complain_place(path, place, fault->why);
}

static int begin_replay(struct oteltop_session *session)
{
    struct oteltop_replay *const replay = &session->replay;
    const char *const path = session->options->replay;

    replay->taker = session->collector.taker;
    replay->recording.in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!replay->recording.in)
        return oteltop_complain(path, errno);

    const int status = check_replay(session, oteltop_replay_begin(replay));
    session->start_unix_ns = replay->start_unix_ns;
    return status;
}

static void end_replay(struct oteltop_session *session)
{
    FILE *const in = session->replay.recording.in;

    if (in && in != stdin)
        (void)fclose(in);
    oteltop_replay_free(&session->replay);
}

/* ---- either ------------------------------------------------------------- */

int oteltop_session_begin(struct oteltop_session *session,
                          const struct oteltop_options *options,
                          const pid_t *pids, size_t count)
{
    *session = (struct oteltop_session){
        .options = options,
        .start_ns = otelread_monotonic_ns(),
        .start_unix_ns = otelread_realtime_ns(),
        .collector = {.pids = pids,
                      .pids_count = count,
                      .no_stop = options->no_stop,
                      .every = options->wall,
                      .hz_wanted = options->hz,
                      .taker = {.self = session,
                                .sample = take_sample,
                                .gone = take_gone,
                                .rate = take_rate}},
    };
    if (options->replay)
        return begin_replay(session);
    if (open_record(session) != 0)
        return 1;

    const int error = oteltop_collector_begin(&session->collector);
    return error == 0 ? 0 : oteltop_complain("cannot find processes", -error);
}

uint64_t oteltop_session_at_ns(const struct oteltop_session *session)
{
    const struct oteltop_collector *const collector = &session->collector;

    return session->options->replay ? session->replay.last_ns
                                    : collector->last_ns - collector->start_ns;
}

uint64_t oteltop_session_next_ns(const struct oteltop_session *session)
{
    const struct oteltop_replay *const replay = &session->replay;

    if (!session->options->replay)
        return oteltop_collector_next_ns(&session->collector);
    return replay->is_over
               ? UINT64_MAX
               : session->start_ns + replay->last_ns + SECOND_NS / REPLAY_HZ;
}

int oteltop_session_skip_to(struct oteltop_session *session, uint64_t at_ns)
{
    return check_replay(session, oteltop_replay_until(&session->replay, at_ns));
}

int oteltop_session_step(struct oteltop_session *session)
{
    if (session->options->replay)
        return oteltop_session_skip_to(session, otelread_monotonic_ns() -
                                                    session->start_ns);
    oteltop_collector_look(&session->collector);
    return 0;
}

void oteltop_session_finish(struct oteltop_session *session)
{
    if (!session->options->replay)
        oteltop_collector_finish(&session->collector);
}

void oteltop_session_settle(struct oteltop_session *session)
{
    session->window.end_ns = session->total.end_ns =
        oteltop_session_at_ns(session);
    if (!session->options->replay)
        oteltop_collector_settle(&session->collector);
}

void oteltop_session_forget(struct oteltop_session *session)
{
    oteltop_window_clear(&session->window);
    if (!session->options->replay)
        oteltop_collector_forget(&session->collector);
}

size_t oteltop_session_processes(const struct oteltop_session *session)
{
    return session->options->replay ? session->replay.running
                                    : session->collector.count;
}

void oteltop_session_cost(const struct oteltop_session *session, char *out,
                          size_t size)
{
    const struct oteltop_replay *const replay = &session->replay;
    const bool is_replay = session->options->replay;
    const struct oteltop_cost *const cost =
        is_replay ? &replay->cost : &session->collector.cost;
    const double seconds = (double)oteltop_session_at_ns(session) / 1e9;

    if (is_replay && !replay->recording.complete) {
        (void)snprintf(out, size, "%u looks/s%s", replay->hz,
                       replay->is_over
                           ? "; the recording was cut off, and ends here"
                           : "");
        return;
    }
    const int used = snprintf(
        out, size,
        "%u looks/s; %.0f stops/s of %.0f us (at most %.0f us): %.2f %% of a "
        "core",
        is_replay ? replay->hz : session->collector.hz,
        seconds > 0 ? (double)cost->stops / seconds : 0.0,
        cost->stops > 0 ? (double)cost->stopped_ns / 1e3 / (double)cost->stops
                        : 0.0,
        (double)cost->longest_ns / 1e3,
        seconds > 0 ? (double)cost->stopped_ns / 1e7 / seconds : 0.0);
    if (cost->left_out > 0 && seconds > 0 && used > 0 && (size_t)used < size)
        (void)snprintf(out + used, size - (size_t)used,
                       "; %.0f stops/s left out",
                       (double)cost->left_out / seconds);
}

int oteltop_session_end(struct oteltop_session *session)
{
    const int status = close_record(session);

    end_replay(session);
    oteltop_window_free(&session->window);
    oteltop_window_free(&session->total);
    oteltop_collector_free(&session->collector);
    return status;
}
