/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/text.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/printed.h"
#include "tests/support/threads.h"

/* One context with this payload, published 192 s ago. */
static struct otelread_context context;
static struct otelread_report report;

static void build(const char *payload, size_t size)
{
    context = (struct otelread_context){
        .mapping = {0x7000, 0x8000, "rw-p", "/memfd:OTEL_CTX (deleted)", true},
        .established = true,
        .has_header = true,
        .header = {.version = 2,
                   .payload_size = (uint32_t)size,
                   .published_at_ns = 1000,
                   .payload = 0x7020},
        .read_at_ns = 192000001000,
    };
    report = (struct otelread_report){
        .target = {.pid = 4711}, .contexts = {.list = &context, .count = 1}};
    strcpy(report.target.command, "python3");
    cr_assert_eq(otelread_decode((const uint8_t *)payload, size,
                                 &context.decoded, &context.fault),
                 0, "byte %zu: %s", context.fault.offset, context.fault.why);
}

static const char *print(void)
{
    return printed(otelread_text_print, &report);
}

#define PRINT(payload) (build((payload), sizeof(payload) - 1), print())

#define EXPECT_LINE(payload, line)                                             \
    cr_expect(strstr(PRINT(payload), (line)), "%s", print())

Test(reader_text, a_context_looks_like_this)
{
    cr_expect_str_eq(PRINT("\x0a\x42"
                           "\x0a\x18\x0a\x0cservice.name\x12\x08\x0a\x06shop.a"
                           "\x0a\x26\x0a\x1b"
                           "deployment.environment.name\x12\x07\x0a\x05"
                           "alpha"),
                     "PID 4711 (python3)\n"
                     "  mapping    7000-8000 rw-p /memfd:OTEL_CTX (deleted)\n"
                     "  header     version 2, payload 68 bytes at 0x7020\n"
                     "  published  3 min 12 s ago (boottime 1000 ns)\n"
                     "  resource\n"
                     "    deployment.environment.name  \"alpha\"\n"
                     "    service.name                 \"shop.a\"\n"
                     "  extra attributes\n"
                     "    (none)\n");
}

Test(reader_text, values_of_every_kind_are_told_apart)
{
    EXPECT_LINE("\x12\x07\x0a\x01k\x12\x02\x10\x01", "\n    k  true\n");
    EXPECT_LINE("\x12\x07\x0a\x01k\x12\x02\x18\x05", "\n    k  5\n");
    EXPECT_LINE("\x12\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\x14\x40",
                "\n    k  5.0\n");
    EXPECT_LINE("\x12\x0e\x0a\x01k\x12\x09\x21\x9a\x99\x99\x99\x99\x99\xb9\x3f",
                "\n    k  0.1\n");
    EXPECT_LINE("\x12\x09\x0a\x01k\x12\x04\x3a\x02\x00\xff",
                "\n    k  bytes(2) 00 ff\n");
    EXPECT_LINE("\x12\x03\x0a\x01k", "\n    k  (empty value)\n");
    EXPECT_LINE("\x12\x0d\x0a\x01k\x12\x08\x2a\x06\x0a\x00\x0a\x02\x10\x00",
                "\n    k  [(empty value), false]\n");
    EXPECT_LINE("\x12\x0c\x0a\x01k\x12\x07\x32\x05\x0a\x03\x0a\x01\x1b",
                "\n    k  {\"\\x1b\": (empty value)}\n");
}

Test(reader_text, terminal_controls_are_escaped_everywhere)
{
    build("\x0a\x12\x0a\x10\x0a\x05\x1b[31m\x12\x07\x0a\x05\xe2\x80\xae\n\"",
          20);
    strcpy(report.target.command, "a\x1b]0;x\x07");
    strcpy(context.mapping.name, "/memfd:OTEL_CTX\x1b[2J");

    cr_expect(!strchr(print(), '\x1b'));
    cr_expect(!strchr(print(), '\x07'));
    cr_expect(strstr(print(), "(a\\x1b]0;x\\x07)"));
    cr_expect(strstr(print(), "OTEL_CTX\\x1b[2J\n"));
    cr_expect(strstr(print(), "\"\\x1b[31m\"  \"\\u{202e}\\n\\\"\""), "%s",
              print());
}

Test(reader_text, keys_that_could_mislead_are_quoted)
{
    EXPECT_LINE("\x12\x05\x0a\x03"
                "a b",
                "\n    \"a b\"  (empty");
    EXPECT_LINE("\x12\x00", "\n    \"\"  (empty");
    EXPECT_LINE("\x12\x04\x0a\x02\xc3\xa9", "\n    \xc3\xa9  (empty");
}

Test(reader_text, ages_are_in_human_units)
{
    static const struct {
        uint64_t age_ns;
        const char *text;
    } cases[] = {
        {0, "  0 ms ago"},
        {999999999, "  999 ms ago"},
        {59999999999, "  59 s ago"},
        {60000000000, "  1 min 0 s ago"},
        {3600000000000, "  1 h 0 min ago"},
        {86399000000000, "  23 h 59 min ago"},
        {93600000000000, "  1 d 2 h ago"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build("", 0);
        context.read_at_ns = context.header.published_at_ns + cases[i].age_ns;
        cr_expect(strstr(print(), cases[i].text), "%s", print());
    }
    context.header.published_at_ns = UINT64_MAX;
    context.read_at_ns = UINT64_MAX - 5000000000;
    cr_expect(strstr(print(), "  5 s ahead of this clock"));
}

Test(reader_text, each_entity_has_a_line)
{
    EXPECT_LINE("\x0a\x11\x1a\x0f\x12\x01t\x1a\x01"
                "a\x1a\x01\n\x22\x01k\x0a\x01u",
                "  entities\n    t  id a, \\n  description k  schema u\n");
}

Test(reader_text, dropped_attributes_are_counted)
{
    EXPECT_LINE("\x0a\x02\x10\x03", "(3 more dropped by the publisher)");
}

Test(reader_text, nothing_is_printed_without_a_context)
{
    build("", 0);
    report.status = OTELREAD_INVALID;
    cr_expect_str_empty(print());
}

Test(reader_text, of_several_contexts_each_is_printed)
{
    static struct otelread_context two[2];

    build("", 0);
    two[0] = context;
    two[1] = context;
    two[1].mapping.start = 0x9000;
    two[1].status = OTELREAD_INVALID;
    strcpy(two[1].message, "bad");
    report.contexts.list = two;
    report.contexts.count = 2;
    report.status = OTELREAD_SEVERAL;
    cr_expect(strstr(print(), "mapping    7000-"));
    cr_expect(strstr(print(), "mapping    9000-"));
    cr_expect(strstr(print(), "invalid_context: bad\n"));
}

/* ---- --threads ----------------------------------------------------------- */

static void build_threads(void)
{
    build("", 0);
    threads_add(&report);
}

Test(reader_text, threads_look_like_this)
{
    static const char expected[] =
        "  symbol     tlsdesc-static, thread pointer -832, in "
        "/usr/lib/lib\\x1b.so\n"
        "  threads\n"
        "     4711  python3  S  attached  trace "
        "4bf90000000000000000000000000000 span 00f0000000000000 flags 03  "
        "stopped at most 39 us\n"
        "      (it is odd)\n"
        "      http.route  \"/a\"\n"
        "      user.id     \"\\\"\\xff\"\n"
        "     4712  w\\n      S  detached  stopped at most 1 us\n"
        "     4713           S  not_stopped\n"
        "      (it sleeps)\n"
        "    10000  gone     S  unreadable\n"
        "      (nowhere)\n";

    build_threads();
    const char *const found = strstr(print(), "  symbol ");
    cr_assert_not_null(found);
    cr_expect_str_eq(found, expected);
}

Test(reader_text, threads_that_were_not_stopped_have_another_title)
{
    build_threads();
    threads.manner = OTELREAD_AS_IT_RUNS;
    cr_expect(strstr(print(), "\n  threads\n"
                              "    (not stopped while they were read: parts "
                              "may be of different moments)\n"
                              "     4711"),
              "%s", print());
}

Test(reader_text, a_variable_in_dynamic_storage_is_in_a_module)
{
    build_threads();
    threads.search.tls.symbol.access = OTELREAD_GENERAL_DYNAMIC;
    threads.search.tls.symbol.module = 2;
    threads.search.tls.symbol.offset = 16;
    cr_expect(
        strstr(print(), "  symbol     general-dynamic, module 2 +16, in "),
        "%s", print());
}

Test(reader_text, the_reason_is_printed_in_place_of_unreadable_threads)
{
    build("", 0);
    threads = (struct otelread_threads){
        .status = OTELREAD_THREADS_NOT_ANNOUNCED, .message = "there is no key"};
    report.threads = &threads;
    cr_expect(strstr(print(), "  threads\n    not_announced\n"
                              "      (there is no key)\n"),
              "%s", print());
}
