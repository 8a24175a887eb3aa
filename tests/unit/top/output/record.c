/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/output/record.h"

#include "demo/top/recording/read.h"
#include "demo/top/replay/replay.h"
#include "tests/unit/top/output/samples.h"

#include <unistd.h>

static struct oteltop_record record;
static char *text;
static size_t size;

static void begin(void)
{
    record.json = (struct otelbase_json){.out = open_memstream(&text, &size)};
    cr_assert(record.json.out);
    oteltop_record_begin(&record, 1234567890123456789, 99, true);
}

static void end(void)
{
    free(text);
}

TestSuite(top_record, .init = begin, .fini = end);

static void take(struct oteltop_thread *thread, struct oteltop_span *span,
                 uint64_t at_ns)
{
    const struct oteltop_sample sample = {.at_ns = at_ns,
                                          .thread = thread,
                                          .span = span,
                                          .none = span ? NULL : "detached",
                                          .state = span ? 'R' : 'D',
                                          .is_untrusted = at_ns % 2 == 1,
                                          .cpu_ns = at_ns + 1,
                                          .wall_ns = at_ns + 2};

    oteltop_record_sample(&record, &sample);
}

/* ---- read again -----------------------------------------------------------
 */

static struct oteltop_recording recording;
static const struct oteltop_line *const line = &recording.line;

static void read_again(void)
{
    (void)fclose(record.json.out);
    recording.in = fmemopen(text, size, "r");
    cr_assert(recording.in);
}

static void expect_line(enum oteltop_line_kind kind)
{
    cr_assert_eq(oteltop_recording_next(&recording), 1, "%s",
                 recording.fault.why);
    cr_assert_eq(line->kind, kind);
}

static void expect_text(struct otelbase_text found, const char *expected)
{
    cr_expect_eq(found.size, strlen(expected), "%s", expected);
    cr_expect_eq(memcmp(found.text, expected, strlen(expected)), 0, "%s",
                 expected);
}

static void expect_pair(size_t i, const char *key, const char *value)
{
    cr_assert_lt(i, line->attributes.count);
    expect_text(line->attributes.pairs[i].key, key);
    expect_text(line->attributes.pairs[i].value, value);
}

static void expect_end(void)
{
    cr_expect_eq(oteltop_recording_next(&recording), 0);
    (void)fclose(recording.in);
    oteltop_recording_free(&recording);
}

Test(top_record, every_line_says_what_it_was_given)
{
    struct oteltop_process *const shop =
        process_make(42, (const char *const[]){"service.name", "shop", NULL});
    struct oteltop_thread *const worker =
        oteltop_thread_new(shop, 43, "worker");
    struct oteltop_span *const cart =
        span_make(shop, 7, (const char *const[]){"http.route", "/cart", NULL});
    char host[256] = "";

    shop->container = strdup("0123456789ab");
    shop->pod = strdup("shop-1");
    shop->cgroup = strdup("/a/b");
    take(worker, cart, 10);
    oteltop_record_rate(&record, 50, 15);
    take(worker, NULL, 21);
    oteltop_record_gone(&record, shop, 25);
    oteltop_record_end(&record, 30, 4, 5, 6);
    read_again();

    expect_line(OTELTOP_RECORDING);
    cr_expect_eq(line->number, 1);
    cr_expect_eq(line->start_ns, 1234567890123456789);
    cr_expect_eq(line->hz, 99);
    cr_expect(line->all_states);
    cr_expect_geq(line->cpus, 1);
    (void)gethostname(host, sizeof(host) - 1);
    expect_text(line->host, host);
    expect_text(line->by, "otelctx-top " OTELCTX_VERSION);

    expect_line(OTELTOP_PROCESS);
    cr_expect_eq(line->number, shop->number);
    cr_expect_eq(line->pid, 42);
    expect_text(line->command, "/bin/app -x");
    expect_text(line->container, "0123456789ab");
    expect_text(line->pod, "shop-1");
    expect_text(line->cgroup, "/a/b");
    expect_text(line->context, "ok");
    expect_pair(0, "service.name", "shop");

    expect_line(OTELTOP_THREAD);
    cr_expect_eq(line->number, worker->number);
    cr_expect_eq(line->process, shop->number);
    cr_expect_eq(line->tid, 43);
    expect_text(line->comm, "worker");

    expect_line(OTELTOP_SPAN);
    cr_expect_eq(line->number, cart->number);
    cr_expect_eq(line->flags, 1);
    cr_expect_arr_eq(line->trace_id, cart->trace_id, 16);
    cr_expect_arr_eq(line->span_id, cart->span_id, 8);
    expect_pair(0, "http.route", "/cart");

    expect_line(OTELTOP_SAMPLE);
    cr_expect_eq(line->t_ns, 10);
    cr_expect_eq(line->thread, worker->number);
    cr_expect_eq(line->span, cart->number);
    cr_expect_eq(line->cpu_ns, 11);
    cr_expect_eq(line->wall_ns, 12);
    cr_expect_not(line->untrusted);
    expect_text(line->state, "R");

    expect_line(OTELTOP_RATE);
    cr_expect_eq(line->t_ns, 15);
    cr_expect_eq(line->hz, 50);

    expect_line(OTELTOP_SAMPLE);
    cr_expect_eq(line->t_ns, 21);
    cr_expect_eq(line->span, 0);
    cr_expect(line->untrusted);
    expect_text(line->none, "detached");
    expect_text(line->state, "D");

    expect_line(OTELTOP_GONE);
    cr_expect_eq(line->number, shop->number);
    cr_expect_eq(line->t_ns, 25);

    expect_line(OTELTOP_END);
    cr_expect_eq(line->t_ns, 30);
    cr_expect_eq(line->stops, 4);
    cr_expect_eq(line->stopped_ns, 5);
    cr_expect_eq(line->longest_ns, 6);
    expect_end();
    cr_expect(recording.complete);
    oteltop_thread_free(worker);
    oteltop_process_free(shop);
}

Test(top_record, any_text_comes_back_and_what_is_not_utf8_as_u_fffd)
{
    static const char odd[] =
        "a\"\\\n\r\t\x01\x7f;'</script>\xe2\x80\xa8\xce\xb1";
    struct oteltop_process *const shop =
        process_make(42, (const char *const[]){odd, odd, "", "", NULL});
    struct oteltop_thread *const worker =
        oteltop_thread_new(shop, 43, "\xff\xce\xb1\xce");

    free(shop->command);
    shop->command = strdup(odd);
    take(worker,
         span_make(shop, 7,
                   (const char *const[]){odd, odd, "k", "1", "k", "2", NULL}),
         1);
    read_again();

    expect_line(OTELTOP_RECORDING);
    expect_line(OTELTOP_PROCESS);
    expect_text(line->command, odd);
    cr_assert_eq(line->attributes.count, 2);
    expect_pair(0, odd, odd);
    expect_pair(1, "", "");
    expect_line(OTELTOP_THREAD);
    expect_text(line->comm, "\xef\xbf\xbd\xce\xb1\xef\xbf\xbd");
    expect_line(OTELTOP_SPAN);
    cr_assert_eq(line->attributes.count, 2, "of equal keys the last counts");
    expect_pair(0, odd, odd);
    expect_pair(1, "k", "2");
    expect_line(OTELTOP_SAMPLE);
    expect_end();
    cr_expect_not(recording.complete);
    oteltop_thread_free(worker);
    oteltop_process_free(shop);
}

Test(top_record, what_is_unknown_is_left_out)
{
    struct oteltop_process *const alone = process_make(7, NULL);
    struct oteltop_thread *const its = oteltop_thread_new(alone, 7, "app");

    take(its, span_make(alone, 7, NULL), 0);
    read_again();
    cr_expect_not(strstr(text, "resource"));
    cr_expect_not(strstr(text, "attributes"));
    cr_expect_not(strstr(text, "container"));
    cr_expect_not(strstr(text, "cgroup"));
    cr_expect_not(strstr(text, "pod"));
    cr_expect_not(strstr(text, "untrusted"));
    (void)fclose(recording.in);
    oteltop_thread_free(its);
    oteltop_process_free(alone);
}

Test(top_record, a_process_that_has_no_sample_does_not_go)
{
    struct oteltop_process *const alone = process_make(7, NULL);

    oteltop_record_gone(&record, alone, 5);
    read_again();
    expect_line(OTELTOP_RECORDING);
    expect_end();
    oteltop_process_free(alone);
}

/* ---- replayed and recorded again ------------------------------------------
 */

static struct oteltop_record second;
static unsigned offset; /* of new numbers */

static void renumber(unsigned *number, bool is_recorded)
{
    if (!is_recorded)
        *number -= offset;
}

static void take_again(void *self, const struct oteltop_sample *sample)
{
    struct oteltop_thread *const thread = sample->thread;

    (void)self;
    renumber(&thread->process->number, thread->process->is_recorded);
    renumber(&thread->number, thread->is_recorded);
    if (sample->span)
        renumber(&sample->span->number, sample->span->is_recorded);
    oteltop_record_sample(&second, sample);
}

/* Two of each, so that the replay's numbers begin with 3. */
Test(top_record, a_replay_makes_the_same_recording)
{
    struct oteltop_process *processes[2];
    struct oteltop_thread *threads[2];
    struct oteltop_span *spans[2];
    struct oteltop_replay replay = {.taker = {.sample = take_again}};
    char *again = NULL;
    size_t again_size = 0;

    for (uint8_t i = 0; i < 2; i++) {
        processes[i] = process_make(
            42 + i, i == 0 ? (const char *const[]){"service.name", "a\"b", NULL}
                           : NULL);
        threads[i] = oteltop_thread_new(processes[i], 100 + i, "w;\n");
        spans[i] = span_make(processes[i], 7 + i,
                             (const char *const[]){"k", "v\\", NULL});
    }
    for (uint64_t t = 0; t < 20; t++)
        take(threads[t % 2], t < 2 ? spans[t] : t % 3 ? NULL : spans[t % 2], t);
    oteltop_record_end(&record, 20, 0, 0, 0);
    (void)fclose(record.json.out);

    offset = 2;
    replay.recording.in = fmemopen(text, size, "r");
    second.json.out = open_memstream(&again, &again_size);
    cr_assert_eq(oteltop_replay_begin(&replay), 0);
    oteltop_record_begin(&second, replay.start_unix_ns, replay.hz, replay.wall);
    cr_assert_eq(oteltop_replay_until(&replay, UINT64_MAX), 0, "%s",
                 replay.recording.fault.why);
    oteltop_record_end(&second, replay.last_ns, replay.cost.stops,
                       replay.cost.stopped_ns, replay.cost.longest_ns);
    (void)fclose(second.json.out);
    cr_expect_str_eq(again, text);
    free(again);
    (void)fclose(replay.recording.in);
    oteltop_replay_free(&replay);
    for (size_t i = 0; i < 2; i++) {
        oteltop_thread_free(threads[i]);
        oteltop_process_free(processes[i]);
    }
}
