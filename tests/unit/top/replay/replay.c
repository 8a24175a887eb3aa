/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/replay/replay.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                   \
    "{\"recording\":1,\"by\":\"a test\",\"start_ns\":\"1763872345678901234\"," \
    "\"hz\":99,\"wall\":false}\n"
#define PROCESS(number, pid, service)                                          \
    "{\"process\":" number ",\"pid\":" pid ",\"command\":\"app -x\","          \
    "\"context\":\"ok\",\"resource\":{\"service.name\":\"" service "\"}}\n"
#define THREAD(number, process)                                                \
    "{\"thread\":" number ",\"process\":" process ",\"tid\":7,\"comm\":"       \
    "\"worker\"}\n"
#define SPAN(number, id, route)                                                \
    "{\"span\":" number ",\"trace_id\":"                                       \
    "\"4bf92f3577b34da6a3ce929d0e0e4736\",\"span_id\":\"00000000000000" id     \
    "\",\"flags\":1,\"attributes\":{\"http.route\":\"" route "\"}}\n"
#define SAMPLE(t, what)                                                        \
    "{\"t\":" t ",\"thread\":1," what ",\"state\":\"R\",\"cpu\":5,"            \
    "\"wall\":10}\n"
#define FIRST HEAD PROCESS("1", "42", "shop") THREAD("1", "1")

/* What was handed out, a line a sample. */
struct taken {
    char text[1024];
    size_t count;
};

static void take(void *self, const struct oteltop_sample *sample)
{
    struct taken *const taken = self;
    const struct oteltop_process *const process = sample->thread->process;
    const size_t used = strlen(taken->text);
    const char *const route =
        sample->span
            ? oteltop_attributes_find(&sample->span->attributes, "http.route")
            : NULL;

    taken->count++;
    (void)snprintf(taken->text + used, sizeof(taken->text) - used,
                   "%d %s %s %d %s %d %s %d %c %d %d\n", (int)sample->at_ns,
                   oteltop_attributes_find(&process->resource, "service.name"),
                   process->command, process->pid, sample->thread->name,
                   sample->thread->tid, sample->span ? route : sample->none,
                   sample->span
                       ? (int)(sample->span->last_ns - sample->span->first_ns)
                       : -1,
                   sample->state, (int)sample->cpu_ns, (int)sample->wall_ns);
}

static void begin(struct oteltop_replay *replay, struct taken *taken,
                  const char *recording, size_t size)
{
    *taken = (struct taken){.count = 0};
    *replay = (struct oteltop_replay){.recording = {.in = tmpfile()},
                                      .taker = {.self = taken, .sample = take}};
    cr_assert(replay->recording.in);
    cr_assert_eq(fwrite(recording, 1, size, replay->recording.in), size);
    rewind(replay->recording.in);
}

static void end(struct oteltop_replay *replay)
{
    cr_expect_eq(fclose(replay->recording.in), 0);
    oteltop_replay_free(replay);
}

static void expect(const char *recording, const char *samples)
{
    struct oteltop_replay replay;
    struct taken taken;

    begin(&replay, &taken, recording, strlen(recording));
    cr_expect_eq(oteltop_replay_begin(&replay), 0);
    cr_expect_eq(replay.start_unix_ns, 1763872345678901234);
    cr_expect_eq(oteltop_replay_until(&replay, UINT64_MAX), 0);
    cr_expect(replay.is_over);
    cr_expect_str_eq(taken.text, samples);
    end(&replay);
}

Test(top_replay, samples_have_what_the_lines_before_introduced)
{
    expect(FIRST SPAN("1", "b7", "/cart") SAMPLE("20", "\"span\":1")
               SAMPLE("30", "\"none\":\"detached\""),
           "20 shop app -x 42 worker 7 /cart 0 R 5 10\n"
           "30 shop app -x 42 worker 7 detached -1 R 5 10\n");
}

Test(top_replay, a_span_is_as_long_as_its_ids_were_seen)
{
    expect(FIRST SPAN("1", "b7", "/cart") SPAN("2", "b7", "/item")
               SPAN("3", "b8", "/item") SAMPLE("20", "\"span\":1")
                   SAMPLE("30", "\"span\":2") SAMPLE("50", "\"span\":3")
                       SAMPLE("70", "\"span\":2"),
           "20 shop app -x 42 worker 7 /cart 0 R 5 10\n"
           "30 shop app -x 42 worker 7 /item 10 R 5 10\n"
           "50 shop app -x 42 worker 7 /item 0 R 5 10\n"
           "70 shop app -x 42 worker 7 /item 50 R 5 10\n");
}

/* Any process may have such a context. */
Test(top_replay, a_span_may_have_no_ids)
{
    expect(FIRST
           "{\"span\":1,\"trace_id\":\"00000000000000000000000000000000\","
           "\"span_id\":\"0000000000000000\",\"flags\":0,"
           "\"attributes\":{\"http.route\":\"/cart\"}}\n" SAMPLE("20",
                                                                 "\"span\":1"),
           "20 shop app -x 42 worker 7 /cart 0 R 5 10\n");
}

Test(top_replay, a_time_that_goes_back_makes_no_span_longer)
{
    expect(FIRST SPAN("1", "b7", "/cart") SAMPLE("50", "\"span\":1")
               SAMPLE("20", "\"span\":1"),
           "50 shop app -x 42 worker 7 /cart 0 R 5 10\n"
           "20 shop app -x 42 worker 7 /cart 30 R 5 10\n");
}

/* Also without a new line for the thread. */
Test(top_replay, what_is_introduced_again_counts_from_there_on)
{
    expect(FIRST SPAN("1", "b7", "/cart") SAMPLE("20", "\"span\":1")
               PROCESS("1", "42", "other") SPAN("1", "b8", "/item")
                   SAMPLE("30", "\"span\":1"),
           "20 shop app -x 42 worker 7 /cart 0 R 5 10\n"
           "30 other app -x 42 worker 7 /item 0 R 5 10\n");
}

Test(top_replay, it_goes_on_from_where_it_was)
{
    static const char recording[] = FIRST SAMPLE("20", "\"none\":\"a\"")
        SAMPLE("40", "\"none\":\"b\"") "{\"gone\":1,\"t\":50}\n"
                                       "{\"end\":60,\"stops\":3,"
                                       "\"stopped_ns\":9,\"longest_ns\":4}\n";
    struct oteltop_replay replay;
    struct taken taken;

    begin(&replay, &taken, recording, strlen(recording));
    cr_assert_eq(oteltop_replay_begin(&replay), 0);
    cr_expect_eq(oteltop_replay_until(&replay, 39), 0);
    cr_expect_eq(taken.count, 1);
    cr_expect_eq(replay.last_ns, 39);
    cr_expect_eq(replay.running, 1);
    cr_expect_eq(oteltop_replay_until(&replay, 40), 0);
    cr_expect_eq(taken.count, 2);
    cr_expect_not(replay.is_over);
    cr_expect_eq(oteltop_replay_until(&replay, 70), 0);
    cr_expect(replay.is_over);
    cr_expect_eq(replay.last_ns, 60);
    cr_expect_eq(replay.running, 0);
    cr_expect_eq(replay.cost.stops, 3);
    cr_expect_eq(replay.cost.longest_ns, 4);
    end(&replay);
}

static void expect_refusal(const char *recording, size_t line, const char *why)
{
    struct oteltop_replay replay;
    struct taken taken;

    begin(&replay, &taken, recording, strlen(recording));
    cr_assert_eq(oteltop_replay_begin(&replay), 0);
    cr_expect_eq(oteltop_replay_until(&replay, UINT64_MAX), -EINVAL);
    cr_expect_str_eq(replay.recording.fault.why, why);
    cr_expect_eq(replay.recording.fault.line, line);
    end(&replay);
}

Test(top_replay, a_number_that_no_line_introduces_is_refused)
{
    expect_refusal(HEAD SAMPLE("20", "\"none\":\"a\""), 2,
                   "no line introduces this thread");
    expect_refusal(HEAD THREAD("1", "1"), 2,
                   "no line introduces the process of this thread");
    expect_refusal(FIRST SAMPLE("20", "\"span\":1"), 4,
                   "no line introduces this span");
    expect_refusal(HEAD "{\"gone\":1,\"t\":50}\n", 2,
                   "no line introduces this process");
}

static size_t samples_in(const char *text, size_t size)
{
    static const char last[] = "\"wall\":10}";
    size_t count = 0;

    for (const char *at = text;
         (at = memmem(at, size - (size_t)(at - text), last, strlen(last)));
         at += strlen(last))
        count++;
    return count;
}

Test(top_replay, a_recording_that_is_cut_anywhere_is_replayed_up_to_there)
{
    static const char recording[] =
        FIRST SPAN("1", "b7", "/cart") SAMPLE("20", "\"span\":1")
            SAMPLE("40", "\"none\":\"b\"") SAMPLE("60", "\"span\":1");

    for (size_t size = strlen(HEAD); size < sizeof(recording); size++) {
        struct oteltop_replay replay;
        struct taken taken;

        begin(&replay, &taken, recording, size);
        cr_assert_eq(oteltop_replay_begin(&replay), 0);
        cr_assert_eq(oteltop_replay_until(&replay, UINT64_MAX), 0, "%zu", size);
        cr_assert_eq(taken.count, samples_in(recording, size), "%zu", size);
        end(&replay);
    }
}
