/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/replay/replay.h"

#include "demo/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------- */

/* Copies a text; NULL when the line does not have it. */
static char *copy_of(struct otelbase_text text)
{
    if (text.size == 0)
        return NULL;

    char *const copy = otelbase_zeros(text.size + 1, 1);
    (void)memcpy(copy, text.text, text.size);
    return copy;
}

static const char *reason_of(struct oteltop_replay *replay,
                             struct otelbase_text none)
{
    const size_t number =
        otelbase_pool_add(&replay->reasons, none.text, none.size, NULL);

    return replay->reasons.items[number].bytes;
}

static const char *add_attributes(struct oteltop_attributes *out,
                                  const struct oteltop_pairs *pairs)
{
    int error = 0;

    for (size_t i = 0; i < pairs->count && error == 0; i++) {
        char *const key = copy_of(pairs->pairs[i].key);
        char *const value = copy_of(pairs->pairs[i].value);

        error = oteltop_attributes_add(out, key ? key : "", value ? value : "");
        free(key);
        free(value);
    }
    return error == 0 ? NULL : "out of memory";
}

/* ---- what lines introduce ----------------------------------------------- */

static const char *add_process(struct oteltop_replay *replay,
                               const struct oteltop_line *line)
{
    size_t *const slot =
        otelbase_numbers_slot(&replay->process_numbers, line->number);
    struct oteltop_process *const process =
        oteltop_process_new((pid_t)line->pid);

    if (!process)
        return "out of memory";
    if (*slot == OTELBASE_NOTHING)
        replay->running++;
    replay->processes = otelbase_grow(replay->processes, replay->process_count,
                                      &replay->process_room, sizeof(process));
    *slot = replay->process_count++;
    replay->processes[*slot] = process;
    process->command =
        copy_of(line->command.size > 0 ? line->command : line->comm);
    process->container = copy_of(line->container);
    process->pod = copy_of(line->pod);
    process->cgroup = copy_of(line->cgroup);
    process->context = copy_of(line->context);
    return add_attributes(&process->resource, &line->attributes);
}

/* Makes a thread of the process that was introduced last with this number. */
static const char *new_thread(struct oteltop_replay *replay, size_t *slot,
                              uint64_t number, pid_t tid, const char *name)
{
    const size_t process =
        *otelbase_numbers_slot(&replay->process_numbers, number);

    if (process == OTELBASE_NOTHING)
        return "no line introduces the process of this thread";

    struct oteltop_thread *const thread =
        oteltop_thread_new(replay->processes[process], tid, name);
    if (!thread)
        return "out of memory";
    replay->threads =
        otelbase_grow(replay->threads, replay->thread_count,
                      &replay->thread_room, sizeof(*replay->threads));
    *slot = replay->thread_count++;
    replay->threads[*slot] =
        (struct oteltop_replayed){.thread = thread, .process = number};
    return NULL;
}

static const char *add_thread(struct oteltop_replay *replay,
                              const struct oteltop_line *line)
{
    size_t *const slot =
        otelbase_numbers_slot(&replay->thread_numbers, line->number);
    char *const name = copy_of(line->comm);
    const char *const why = new_thread(replay, slot, line->process,
                                       (pid_t)line->tid, name ? name : "?");

    free(name);
    return why;
}

static const char *add_span(struct oteltop_replay *replay,
                            const struct oteltop_line *line)
{
    struct oteltop_span like = {.flags = (uint8_t)line->flags};
    const char *const why = add_attributes(&like.attributes, &line->attributes);

    (void)memcpy(like.trace_id, line->trace_id, sizeof(like.trace_id));
    (void)memcpy(like.span_id, line->span_id, sizeof(like.span_id));
    struct oteltop_span *const span = why ? NULL : oteltop_span_new(&like);
    oteltop_attributes_free(&like.attributes);
    if (!span)
        return "out of memory";
    replay->spans = otelbase_grow(replay->spans, replay->span_count,
                                  &replay->span_room, sizeof(span));
    *otelbase_numbers_slot(&replay->span_numbers, line->number) =
        replay->span_count;
    replay->spans[replay->span_count++] = span;
    return NULL;
}

static const char *end_process(struct oteltop_replay *replay,
                               const struct oteltop_line *line)
{
    if (*otelbase_numbers_slot(&replay->process_numbers, line->number) ==
        OTELBASE_NOTHING)
        return "no line introduces this process";
    if (replay->running > 0)
        replay->running--;
    return NULL;
}

/* ---- samples ------------------------------------------------------------ */

/* The thread of a sample, in its process as introduced last: tables count a
 * process with another context as another process. */
static const char *find_thread(struct oteltop_replay *replay, uint64_t number,
                               struct oteltop_thread **out)
{
    size_t *const slot = otelbase_numbers_slot(&replay->thread_numbers, number);

    if (*slot == OTELBASE_NOTHING)
        return "no line introduces this thread";

    const struct oteltop_replayed old = replay->threads[*slot];
    const size_t process =
        *otelbase_numbers_slot(&replay->process_numbers, old.process);
    const char *why = NULL;
    if (old.thread->process != replay->processes[process])
        why = new_thread(replay, slot, old.process, old.thread->tid,
                         old.thread->name);
    *out = replay->threads[*slot].thread;
    return why;
}

static void see(struct oteltop_replay *replay, struct oteltop_span *span,
                uint64_t now_ns)
{
    uint8_t identity[sizeof(span->trace_id) + sizeof(span->span_id)];
    bool new;

    (void)memcpy(identity, span->trace_id, sizeof(span->trace_id));
    (void)memcpy(identity + sizeof(span->trace_id), span->span_id,
                 sizeof(span->span_id));
    const size_t number = otelbase_pool_add(&replay->identities, identity,
                                            sizeof(identity), &new);
    replay->first_ns = otelbase_grow(replay->first_ns, number,
                                     &replay->first_room, sizeof(uint64_t));
    if (new || now_ns < replay->first_ns[number])
        replay->first_ns[number] = now_ns;
    span->first_ns = replay->first_ns[number];
    if (now_ns > span->last_ns)
        span->last_ns = now_ns;
}

static const char *hand_out(struct oteltop_replay *replay,
                            const struct oteltop_line *line)
{
    struct oteltop_sample sample = {
        .at_ns = line->t_ns,
        .state = line->state.size > 0 ? line->state.text[0] : '?',
        .is_untrusted = line->untrusted,
        .cpu_ns = line->cpu_ns,
        .wall_ns = line->wall_ns};
    const char *const why = find_thread(replay, line->thread, &sample.thread);

    if (why)
        return why;
    if (line->span == 0) {
        sample.none = reason_of(replay, line->none);
    } else {
        const size_t span =
            *otelbase_numbers_slot(&replay->span_numbers, line->span);

        if (span == OTELBASE_NOTHING)
            return "no line introduces this span";
        sample.span = replay->spans[span];
        see(replay, sample.span, line->t_ns);
    }
    replay->taker.sample(replay->taker.self, &sample);
    return NULL;
}

/* ---- lines -------------------------------------------------------------- */

/* Returns what is wrong with the line, or NULL. */
static const char *use(struct oteltop_replay *replay,
                       const struct oteltop_line *line)
{
    if (line->t_ns > replay->last_ns)
        replay->last_ns = line->t_ns;
    switch (line->kind) {
    case OTELTOP_RECORDING:
        replay->start_unix_ns = line->start_ns;
        replay->hz = (unsigned)line->hz;
        replay->wall = line->all_states;
        return NULL;
    case OTELTOP_PROCESS:
        return add_process(replay, line);
    case OTELTOP_THREAD:
        return add_thread(replay, line);
    case OTELTOP_SPAN:
        return add_span(replay, line);
    case OTELTOP_SAMPLE:
        return hand_out(replay, line);
    case OTELTOP_RATE:
        replay->hz = (unsigned)line->hz;
        return NULL;
    case OTELTOP_GONE:
        return end_process(replay, line);
    case OTELTOP_END:
        replay->cost = (struct oteltop_cost){.stops = line->stops,
                                             .stopped_ns = line->stopped_ns,
                                             .longest_ns = line->longest_ns};
        return NULL;
    case OTELTOP_OTHER:
        break;
    }
    return NULL;
}

static int use_next(struct oteltop_replay *replay)
{
    struct oteltop_fault *const fault = &replay->recording.fault;

    fault->why = use(replay, &replay->recording.line);
    fault->byte = 0;
    replay->is_ahead = false;
    return fault->why ? -EINVAL : 0;
}

int oteltop_replay_begin(struct oteltop_replay *replay)
{
    const int got = oteltop_recording_next(&replay->recording);

    return got > 0 ? use_next(replay) : got;
}

int oteltop_replay_until(struct oteltop_replay *replay, uint64_t at_ns)
{
    int error = 0;

    while (!replay->is_over && error == 0) {
        if (!replay->is_ahead) {
            const int got = oteltop_recording_next(&replay->recording);

            if (got < 0)
                return got;
            replay->is_over = got == 0;
            if (replay->is_over)
                break;
        }
        replay->is_ahead = replay->recording.line.t_ns > at_ns;
        if (replay->is_ahead) {
            replay->last_ns = at_ns;
            break;
        }
        error = use_next(replay);
    }
    return error;
}

void oteltop_replay_free(struct oteltop_replay *replay)
{
    for (size_t i = 0; i < replay->thread_count; i++)
        oteltop_thread_free(replay->threads[i].thread);
    for (size_t i = 0; i < replay->process_count; i++)
        oteltop_process_free(replay->processes[i]);
    for (size_t i = 0; i < replay->span_count; i++)
        oteltop_span_free(replay->spans[i]);
    free(replay->threads);
    free(replay->processes);
    free(replay->spans);
    free(replay->first_ns);
    otelbase_numbers_free(&replay->process_numbers);
    otelbase_numbers_free(&replay->thread_numbers);
    otelbase_numbers_free(&replay->span_numbers);
    otelbase_pool_free(&replay->reasons);
    otelbase_pool_free(&replay->identities);
    oteltop_recording_free(&replay->recording);
}
