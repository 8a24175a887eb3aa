/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/recording/read.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                   \
    "{\"recording\":1,\"by\":\"otelctx-top 1.0.0\",\"host\":\"h\","            \
    "\"start_ns\":\"1763872345678901234\",\"hz\":99,\"wall\":true,"            \
    "\"cpus\":2}\n"
#define TRACE  "0123456789abcdef0123456789abcdef"
#define SPAN   "0123456789abcdef"
#define SAMPLE "{\"t\":5,\"thread\":1,\"span\":1,\"cpu\":1,\"wall\":1}\n"

static struct oteltop_recording open_text(const char *text, size_t size)
{
    struct oteltop_recording recording = {.in = tmpfile()};

    cr_assert(recording.in);
    cr_assert_eq(fwrite(text, 1, size, recording.in), size);
    rewind(recording.in);
    return recording;
}

static void close_text(struct oteltop_recording *recording)
{
    (void)fclose(recording->in);
    oteltop_recording_free(recording);
}

static void expect_text(struct otelbase_text text, const char *expected)
{
    cr_expect_eq(text.size, strlen(expected), "%s", expected);
    cr_expect_eq(memcmp(text.text, expected, strlen(expected)), 0, "%s",
                 expected);
}

/* The line behind the head is refused for this. */
static void expect_fault(const char *line, const char *why, size_t byte)
{
    char text[2048];
    struct oteltop_recording recording;
    const int size = snprintf(text, sizeof(text), HEAD "%s\n" SAMPLE, line);

    recording = open_text(text, (size_t)size);
    cr_expect_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(oteltop_recording_next(&recording), -EINVAL, "%s", line);
    cr_assert(recording.fault.why, "%s", line);
    cr_expect_str_eq(recording.fault.why, why, "%s: %s", line,
                     recording.fault.why);
    cr_expect_eq(recording.fault.line, 2);
    cr_expect_eq(recording.fault.byte, byte, "%s: %zu", line,
                 recording.fault.byte);
    close_text(&recording);
}

Test(top_read, every_kind_of_line_is_read)
{
    static const char text[] =
        HEAD "{\"process\":1,\"pid\":7,\"command\":\"a b\",\"comm\":\"a\","
             "\"container\":\"c\",\"cgroup\":\"/g\",\"pod\":\"p\",\"context\":"
             "\"ok\",\"resource\":{\"service.name\":\"shop\",\"n\":[1,2]}}\n"
             "{\"thread\":2,\"process\":1,\"tid\":8,\"comm\":\"w\"}\n"
             "{\"span\":3,\"trace_id\":\"" TRACE "\",\"span_id\":\"" SPAN
             "\",\"flags\":1,\"attributes\":{\"http.route\":\"/\"}}\n"
             "{\"t\":10,\"thread\":2,\"span\":3,\"state\":\"R\",\"cpu\":4,"
             "\"wall\":5,\"untrusted\":true}\n"
             "{\"t\":11,\"thread\":2,\"none\":\"detached\",\"state\":\"D\","
             "\"cpu\":0,\"wall\":6}\n"
             "{\"t\":12,\"hz\":50}\n"
             "{\"gone\":1,\"t\":13}\n"
             "{\"later\":[{}]}\n"
             "{\"end\":14,\"stops\":1,\"stopped_ns\":2,\"longest_ns\":3}\n";
    struct oteltop_recording recording = open_text(text, strlen(text));
    const struct oteltop_line *const line = &recording.line;

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_RECORDING);
    cr_expect_eq(line->start_ns, UINT64_C(1763872345678901234));
    cr_expect_eq(line->hz, 99);
    cr_expect_eq(line->cpus, 2);
    cr_expect(line->all_states);
    expect_text(line->by, "otelctx-top 1.0.0");
    expect_text(line->host, "h");

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_PROCESS);
    cr_expect_eq(line->number, 1);
    cr_expect_eq(line->pid, 7);
    expect_text(line->command, "a b");
    expect_text(line->comm, "a");
    expect_text(line->container, "c");
    expect_text(line->cgroup, "/g");
    expect_text(line->pod, "p");
    expect_text(line->context, "ok");
    cr_assert_eq(line->attributes.count, 2);
    expect_text(line->attributes.pairs[0].key, "service.name");
    expect_text(line->attributes.pairs[0].value, "shop");
    expect_text(line->attributes.pairs[1].value, "[1,2]");

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_THREAD);
    cr_expect_eq(line->number, 2);
    cr_expect_eq(line->process, 1);
    cr_expect_eq(line->tid, 8);
    cr_expect_eq(line->pid, 0, "nothing is left of the line before");
    cr_expect_eq(line->attributes.count, 0);

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_SPAN);
    cr_expect_eq(line->number, 3);
    cr_expect_eq(line->trace_id[0], 0x01);
    cr_expect_eq(line->trace_id[15], 0xef);
    cr_expect_eq(line->span_id[7], 0xef);
    cr_expect_eq(line->flags, 1);
    expect_text(line->attributes.pairs[0].key, "http.route");

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_SAMPLE);
    cr_expect_eq(line->t_ns, 10);
    cr_expect_eq(line->thread, 2);
    cr_expect_eq(line->span, 3);
    cr_expect_eq(line->cpu_ns, 4);
    cr_expect_eq(line->wall_ns, 5);
    cr_expect(line->untrusted);
    expect_text(line->state, "R");

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_SAMPLE);
    cr_expect_eq(line->span, 0);
    cr_expect_not(line->untrusted);
    expect_text(line->none, "detached");

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_RATE);
    cr_expect_eq(line->hz, 50);
    cr_expect_eq(line->t_ns, 12);

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_GONE);
    cr_expect_eq(line->number, 1);

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_OTHER);
    cr_expect_not(recording.complete);

    cr_assert_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(line->kind, OTELTOP_END);
    cr_expect_eq(line->t_ns, 14);
    cr_expect_eq(line->longest_ns, 3);
    cr_expect(recording.complete);
    cr_expect_eq(oteltop_recording_next(&recording), 0);
    close_text(&recording);
}

Test(top_read, bad_lines_are_refused_with_their_place)
{
    expect_fault("", "an object is expected", 1);
    expect_fault("[]", "an object is expected", 1);
    expect_fault("{\"t\":1,\"t\":2}", "a member is there twice", 12);
    expect_fault("{\"process\":1}", "a member is missing", 14);
    expect_fault("{\"t\":1,\"thread\":1,\"cpu\":1,\"wall\":1}",
                 "either span or none is expected", 36);
    expect_fault("{\"t\":1,\"thread\":1,\"span\":1,\"none\":\"x\","
                 "\"cpu\":1,\"wall\":1}",
                 "either span or none is expected", 56);
    expect_fault("{\"span\":1,\"trace_id\":\"" SPAN "\",\"span_id\":\"" SPAN
                 "\"}",
                 "not an id of this size in hexadecimal", 40);
    expect_fault("{\"process\":1,\"pid\":2147483648}",
                 "no process has such a number", 31);
    expect_fault("{\"span\":1,\"trace_id\":\"" TRACE
                 "\",\"span_id\":\"0123456789ABCDEF\"}",
                 "not an id of this size in hexadecimal", 85);
    expect_fault("{\"t\":-1,\"hz\":1}", "a whole number is expected", 6);
    expect_fault("{\"recording\":1,\"start_ns\":\"1\",\"hz\":1}",
                 "a second recording begins", 0);
    expect_fault("{\"thread\":1,\"process\":1,\"tid\":1} ,",
                 "something follows the object", 34);
}

Test(top_read, nothing_follows_the_end)
{
    static const char text[] = HEAD "{\"end\":1}\n" SAMPLE;
    struct oteltop_recording recording = open_text(text, strlen(text));

    cr_expect_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(oteltop_recording_next(&recording), 1);
    cr_expect_eq(oteltop_recording_next(&recording), -EINVAL);
    cr_expect_eq(recording.fault.line, 3);
    cr_expect_str_eq(recording.fault.why, "something follows the end");
    close_text(&recording);
}

Test(top_read, a_recording_that_was_cut_off_is_read_up_to_there)
{
    static const char text[] =
        HEAD "{\"span\":1,\"trace_id\":\"" TRACE "\",\"span_id\":\"" SPAN
             "\",\"attributes\":{\"a\\u00e9\":\"\xc3\xa9\\n\"}}\n"
             "{\"t\":1,\"thread\":1,\"none\":\"detached\",\"cpu\":1,"
             "\"wall\":1}\n"
             "{\"end\":5}\n";
    const size_t size = strlen(text), head = strlen(HEAD);

    for (size_t cut = head - 1; cut <= size; cut++) {
        struct oteltop_recording recording = open_text(text, cut);
        size_t lines = 0, expected = 0;
        int status;

        /* A line is there with its last brace, even without its newline. */
        for (size_t i = 0; i < size; i++)
            expected += i <= cut && text[i] == '\n';
        while ((status = oteltop_recording_next(&recording)) > 0)
            lines++;
        cr_expect_eq(status, 0, "%zu: %s", cut, recording.fault.why);
        cr_expect_eq(lines, expected, "%zu: %zu, %zu", cut, lines, expected);
        cr_expect_eq(recording.complete, cut >= size - 1, "%zu", cut);
        close_text(&recording);
    }
}

Test(top_read, without_its_first_line_it_is_none)
{
    const char *const texts[] = {
        "",
        "\n",
        "{\"recording\":1,\"by\":\"o",
        "{\"t\":1,\"hz\":2}\n",
        "{\"recording\":2,\"start_ns\":\"1\",\"hz\":9}",
        "{\"recording\":1,\"start_ns\":\"1\",\"hz\":0}",
        "{\"recording\":1,\"start_ns\":1,\"hz\":99}\n",
        "#!/bin/sh\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct oteltop_recording recording =
            open_text(texts[i], strlen(texts[i]));

        cr_expect_eq(oteltop_recording_next(&recording), -EINVAL, "%s",
                     texts[i]);
        cr_expect_eq(recording.fault.line, 1);
        close_text(&recording);
    }
}

Test(top_read, no_line_is_endless)
{
    struct oteltop_recording recording = {.in = fopen("/dev/zero", "re")};

    cr_assert(recording.in);
    cr_expect_eq(oteltop_recording_next(&recording), -EINVAL);
    cr_expect_str_eq(recording.fault.why, "the line is longer than 16 MiB");
    close_text(&recording);
}

/* Any byte in place of another: an error or not, and memory is safe. */
Test(top_read, no_byte_breaks_it)
{
    static const char text[] =
        HEAD "{\"span\":1,\"trace_id\":\"" TRACE "\",\"span_id\":\"" SPAN
             "\",\"attributes\":{\"a\\u00e9\":[\"\xc3\xa9\\n\",-1.5e3]}}\n"
             "{\"end\":5}\n";
    static const char bytes[] = "\"\\{}[],:0-9u\xff\n";
    char changed[sizeof(text)];

    for (size_t at = strlen(HEAD); at < strlen(text); at++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            struct oteltop_recording recording;
            int status;

            (void)memcpy(changed, text, sizeof(text));
            changed[at] = bytes[i];
            recording = open_text(changed, strlen(text));
            do
                status = oteltop_recording_next(&recording);
            while (status > 0);
            cr_expect(status == 0 ||
                      (status == -EINVAL && recording.fault.why &&
                       recording.fault.line > 1));
            close_text(&recording);
        }
    }
}
