/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/kit/judge/judge.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STATUS_CANNOT =
        77 /* exit status of a reader that cannot publish the scenario */
};

/* State that the jobs share. */
struct shared {
    size_t next; /* the next scenario to judge */
    struct otelkit_result results[];
};

static bool is_chosen(const struct otelkit_trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->pattern_count; i++) {
        if (fnmatch(trial->patterns[i], name, 0) == 0)
            return true;
    }
    return trial->pattern_count == 0;
}

static void answer_copy(char out[8], const struct otelkit_json *message)
{
    const struct otelkit_json *const answer =
        otelkit_json_get(message, "answer");

    (void)snprintf(out, 8, "%s",
                   answer && answer->kind == OTELKIT_JSON_STRING ? answer->text
                                                                 : "?");
}

/* A reader without JSON says by its exit status whether it found a context. */
static struct otelkit_json *answer_of(const struct otelkit_run *run)
{
    static const char context[] = "{\"answer\":\"context\"}";
    static const char none[] = "{\"answer\":\"none\"}";
    struct otelkit_json *const answer =
        run->unadapted ? NULL : otelkit_json_parse(run->output, run->size);

    if (otelkit_json_get(answer, "answer"))
        return answer;
    otelkit_json_free(answer);
    return run->status == 0 ? otelkit_json_parse(context, sizeof(context) - 1)
                            : otelkit_json_parse(none, sizeof(none) - 1);
}

static void blame(struct otelkit_result *result, enum otelkit_verdict verdict,
                  const char *why)
{
    if (verdict <= result->verdict)
        return;
    result->verdict = verdict;
    (void)snprintf(result->why, sizeof(result->why), "%s", why);
}

/* Faults that count whatever the answer is. */
static void judge_conduct(struct otelkit_result *result,
                          const struct otelkit_reader *reader,
                          const struct otelkit_run *run, bool stopped)
{
    char why[80];

    if (stopped)
        blame(result, OTELKIT_STOPPED, "the process was left stopped");
    (void)snprintf(why, sizeof(why), "it took %ld MiB", run->memory_kib / 1024);
    if (run->memory_kib > reader->memory_kib)
        blame(result, OTELKIT_MEMORY, why);
    (void)snprintf(why, sizeof(why), "it ran for more than %ld ms",
                   reader->limit_ms);
    if (run->hung)
        blame(result, OTELKIT_HUNG, why);
    (void)snprintf(why, sizeof(why), "signal %d ended it", run->signal);
    if (run->signal != 0)
        blame(result, OTELKIT_CRASHED, why);
    if (run->unadapted)
        blame(result, OTELKIT_UNCLEAR, "jq could not adapt its output");
    if (run->status == 126 || run->status == 127)
        blame(result, OTELKIT_UNCLEAR, "the command cannot be executed");
}

static void judge_run(struct otelkit_result *result,
                      const struct otelkit_reader *reader, const char *line,
                      const struct otelkit_run *run, bool stopped)
{
    struct otelkit_json *const stage = otelkit_json_parse(line, strlen(line));
    const struct otelkit_json *const expected =
        otelkit_json_get(stage, "expect");
    struct otelkit_json *const answer =
        run->hung || run->signal != 0 ? NULL : answer_of(run);

    result->verdict = OTELKIT_RIGHT;
    answer_copy(result->expected, expected);
    answer_copy(result->got, answer);
    if (answer)
        result->verdict =
            otelkit_compare(expected, answer, result->why, sizeof(result->why));
    judge_conduct(result, reader, run, stopped);
    otelkit_json_free(answer);
    otelkit_json_free(stage);
}

static void judge_scenario(struct otelkit_result *result,
                           const struct otelkit_reader *reader)
{
    struct otelctx_kit_publisher publisher;
    struct otelkit_run run;

    (void)snprintf(result->got, sizeof(result->got), "-");
    (void)snprintf(result->expected, sizeof(result->expected), "-");
    if (otelctx_kit_start(result->scenario->name, &publisher) != 0) {
        result->verdict = OTELKIT_NOT_STAGED;
        (void)snprintf(result->why, sizeof(result->why), "%s",
                       publisher.message);
    } else {
        const int error = otelkit_reader_run(reader, publisher.pid,
                                             result->scenario->name, &run);

        if (error == 0 && run.status == STATUS_CANNOT) {
            result->verdict = OTELKIT_NOT_STAGED;
            (void)snprintf(result->why, sizeof(result->why),
                           "the reader exited with status 77");
        } else if (error == 0)
            judge_run(result, reader, publisher.line, &run,
                      otelkit_is_left_stopped(publisher.pid));
        else
            blame(result, OTELKIT_UNCLEAR, strerror(-error));
        result->lasted_ns = run.lasted_ns;
        otelkit_run_free(&run);
        otelctx_kit_stop(&publisher);
    }
    result->judged = true;
}

static void __attribute__((noreturn))
job(struct shared *shared, size_t count, const struct otelkit_reader *reader)
{
    size_t i;

    while ((i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED)) < count)
        judge_scenario(&shared->results[i], reader);
    _exit(0);
}

/* A job that ended early left its scenario unjudged. */
static int jobs_run(const struct otelkit_trial *trial, struct shared *shared)
{
    long started = 0;

    for (; started < trial->jobs; started++) {
        const pid_t child = fork();

        if (child == 0)
            job(shared, trial->count, &trial->reader);
        if (child < 0)
            break;
    }
    for (long i = 0; i < started; i++) {
        while (wait(NULL) < 0 && errno == EINTR)
            continue;
    }
    for (size_t i = 0; i < trial->count; i++) {
        if (!trial->results[i].judged)
            return -ECHILD;
    }
    return 0;
}

static size_t shared_size(size_t count)
{
    return sizeof(struct shared) + count * sizeof(struct otelkit_result);
}

int otelkit_trial_run(struct otelkit_trial *trial)
{
    const struct otelctx_kit_scenario *one;
    struct shared *shared;
    size_t all = 0;

    while (otelctx_kit_scenario(all))
        all++;
    shared = mmap(NULL, shared_size(all), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -errno;
    trial->results = shared->results;
    for (size_t i = 0; (one = otelctx_kit_scenario(i)); i++) {
        if (is_chosen(trial, one->name))
            trial->results[trial->count++].scenario = one;
    }
    return jobs_run(trial, shared);
}

size_t otelkit_trial_count(const struct otelkit_trial *trial,
                           enum otelkit_verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < trial->count; i++)
        count += trial->results[i].verdict == verdict;
    return count;
}
