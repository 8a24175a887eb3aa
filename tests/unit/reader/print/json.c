/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/json.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/printed.h"
#include "tests/support/threads.h"

static struct otelread_context context;
static struct otelread_report report;

static void build(const char *payload, size_t size)
{
    context = (struct otelread_context){
        .mapping = {0x7000, 0x8000, "rw-p", "/memfd:OTEL_CTX (deleted)", true},
        .established = true,
        .header = {.version = 2,
                   .payload_size = (uint32_t)size,
                   .published_at_ns = 18446744073709551000U,
                   .payload = 0x7020},
        .read_at_ns = 18446744073709551001U,
    };
    report = (struct otelread_report){
        .target = {.pid = 4711}, .contexts = {.list = &context, .count = 1}};
    strcpy(report.target.command, "app");
    cr_assert_eq(otelread_decode((const uint8_t *)payload, size,
                                 &context.decoded, &context.fault),
                 0, "byte %zu: %s", context.fault.offset, context.fault.why);
}

static const char *print(void)
{
    return printed(otelread_json_print, &report);
}

/* The value of a payload's only extra attribute, "k". */
#define EXPECT_VALUE(payload, json)                                            \
    do {                                                                       \
        build((payload), sizeof(payload) - 1);                                 \
        cr_expect(strstr(print(), "\"extra_attributes\":[{\"key\":\"k\","      \
                                  "\"value\":" json "}]}]}\n"),                \
                  "%s", print());                                              \
    } while (0)

Test(reader_json, a_context_is_one_line_with_all_the_documented_fields)
{
    build("\x0a\x0f\x0a\x0b\x0a\x01k\x12\x06\x0a\x04prod\x10\x02", 17);
    cr_expect_str_eq(
        print(),
        "{\"pid\":4711,\"command\":\"app\",\"status\":\"ok\",\"contexts\":["
        "{\"mapping\":{\"start\":\"0x7000\",\"end\":\"0x8000\","
        "\"permissions\":\"rw-p\",\"name\":\"/memfd:OTEL_CTX (deleted)\"},"
        "\"form\":\"accepted\","
        "\"header\":{\"version\":2,\"payload_size\":17,"
        "\"published_at_ns\":\"18446744073709551000\",\"payload\":\"0x7020\"},"
        "\"age_ns\":\"1\","
        "\"resource\":{\"attributes\":[{\"key\":\"k\",\"value\":"
        "{\"stringValue\":\"prod\"}}],\"dropped_attributes_count\":2},"
        "\"extra_attributes\":[]}]}\n");
}

Test(reader_json, values_are_in_the_json_mapping_of_otlp)
{
    EXPECT_VALUE("\x12\x08\x0a\x01k\x12\x03\x0a\x01x",
                 "{\"stringValue\":\"x\"}");
    EXPECT_VALUE("\x12\x07\x0a\x01k\x12\x02\x10\x01", "{\"boolValue\":true}");
    EXPECT_VALUE("\x12\x10\x0a\x01k\x12\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff"
                 "\xff\x01",
                 "{\"intValue\":\"-1\"}");
    EXPECT_VALUE("\x12\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\x04\x40",
                 "{\"doubleValue\":2.5}");
    EXPECT_VALUE("\x12\x03\x0a\x01k", "{}");
    EXPECT_VALUE("\x12\x0d\x0a\x01k\x12\x08\x2a\x06\x0a\x00\x0a\x02\x10\x00",
                 "{\"arrayValue\":{\"values\":[{},{\"boolValue\":false}]}}");
    EXPECT_VALUE(
        "\x12\x0c\x0a\x01k\x12\x07\x32\x05\x0a\x03\x0a\x01p",
        "{\"kvlistValue\":{\"values\":[{\"key\":\"p\",\"value\":{}}]}}");
}

Test(reader_json, entity_refs_are_in_the_json_mapping_of_otlp)
{
    build("\x0a\x0e\x1a\x0c\x12\x01t\x1a\x01"
          "a\x1a\x01"
          "b\x0a\x01u\x0a\x05\x1a\x03\x22\x01k",
          23);
    cr_expect(strstr(print(), "\"entity_refs\":[{\"schemaUrl\":\"u\",\"type\":"
                              "\"t\",\"idKeys\":[\"a\",\"b\"],"
                              "\"descriptionKeys\":[]},{\"type\":\"\","
                              "\"idKeys\":[],\"descriptionKeys\":[\"k\"]}]"),
              "%s", print());
}

Test(reader_json, doubles_without_a_number_are_strings)
{
    EXPECT_VALUE("\x12\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\xf8\x7f",
                 "{\"doubleValue\":\"NaN\"}");
    EXPECT_VALUE("\x12\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\xf0\x7f",
                 "{\"doubleValue\":\"Infinity\"}");
    EXPECT_VALUE("\x12\x0e\x0a\x01k\x12\x09\x21\0\0\0\0\0\0\xf0\xff",
                 "{\"doubleValue\":\"-Infinity\"}");
}

Test(reader_json, bytes_are_base64)
{
    EXPECT_VALUE("\x12\x07\x0a\x01k\x12\x02\x3a\x00", "{\"bytesValue\":\"\"}");
    EXPECT_VALUE("\x12\x08\x0a\x01k\x12\x03\x3a\x01\xff",
                 "{\"bytesValue\":\"/w==\"}");
    EXPECT_VALUE("\x12\x09\x0a\x01k\x12\x04\x3a\x02\xfb\xff",
                 "{\"bytesValue\":\"+/8=\"}");
    EXPECT_VALUE("\x12\x0a\x0a\x01k\x12\x05\x3a\x03"
                 "abc",
                 "{\"bytesValue\":\"YWJj\"}");
}

Test(reader_json, strings_are_escaped)
{
    EXPECT_VALUE(
        "\x12\x12\x0a\x01k\x12\x0d\x0a\x0b\"\\\n\x1b\x7f\xe2\x80\xae"
        "\xe2\x80\xac",
        "{\"stringValue\":\"\\\"\\\\\\u000a\\u001b\\u007f\\u202e\\u202c\"}");
}

Test(reader_json, a_command_that_is_not_utf8_is_replaced_byte_by_byte)
{
    build("", 0);
    strcpy(report.target.command, "a\xff\xe2\x82");
    cr_expect(strstr(print(), "\"command\":\"a\\ufffd\\ufffd\\ufffd\""));
}

Test(reader_json, a_clock_that_is_ahead_makes_a_negative_age)
{
    build("", 0);
    context.read_at_ns = context.header.published_at_ns - 7;
    cr_expect(strstr(print(), "\"age_ns\":\"-7\""));
}

Test(reader_json, a_failure_has_a_message_and_no_contexts)
{
    build("", 0);
    context.status = OTELREAD_INVALID;
    report.status = OTELREAD_INVALID;
    strcpy(report.message, "the \"reason\"");
    cr_expect_str_eq(print(),
                     "{\"pid\":4711,\"command\":\"app\",\"status\":"
                     "\"invalid_context\",\"message\":\"the \\\"reason\\\"\","
                     "\"contexts\":[]}\n");
}

Test(reader_json, every_status_has_its_documented_name)
{
    cr_expect_str_eq(otelread_status_name(OTELREAD_OK), "ok");
    cr_expect_str_eq(otelread_status_name(OTELREAD_ERROR), "error");
    cr_expect_str_eq(otelread_status_name(OTELREAD_NO_PROCESS), "no_process");
    cr_expect_str_eq(otelread_status_name(OTELREAD_NO_PERMISSION),
                     "no_permission");
    cr_expect_str_eq(otelread_status_name(OTELREAD_NO_CONTEXT), "no_context");
    cr_expect_str_eq(otelread_status_name(OTELREAD_SEVERAL),
                     "several_contexts");
    cr_expect_str_eq(otelread_status_name(OTELREAD_INVALID), "invalid_context");
    cr_expect_str_eq(otelread_status_name(OTELREAD_BUSY), "busy");
}

/* ---- --threads ----------------------------------------------------------- */

static void build_threads(void)
{
    build("", 0);
    threads_add(&report);
}

Test(reader_json, threads_come_after_contexts_with_all_documented_fields)
{
    static const char expected[] =
        ",\"thread_context\":{\"status\":\"ok\","
        "\"schema_version\":\"tls_v1\","
        "\"keys\":[\"http.route\",null,\"user.id\"],"
        "\"symbol\":{\"object\":\"/usr/lib/lib\\u001b.so\","
        "\"access\":\"tlsdesc-static\",\"offset\":\"-832\"},"
        "\"stopped\":true},"
        "\"threads\":["
        "{\"tid\":4711,\"name\":\"python3\",\"state\":\"S\","
        "\"status\":\"attached\",\"record\":\"0x7f0000001000\","
        "\"trace_id\":\"4bf90000000000000000000000000000\","
        "\"span_id\":\"00f0000000000000\",\"trace_flags\":3,"
        "\"attributes\":["
        "{\"key\":\"user.id\",\"value\":{\"stringValue\":\"\\\"\\ufffd\"}},"
        "{\"key\":\"http.route\",\"value\":{\"stringValue\":\"/a\"}}],"
        "\"stopped_ns\":\"38999\",\"message\":\"it is odd\"},"
        "{\"tid\":4712,\"name\":\"w\\u000a\",\"state\":\"S\","
        "\"status\":\"detached\",\"stopped_ns\":\"0\"},"
        "{\"tid\":4713,\"name\":\"\",\"state\":\"S\","
        "\"status\":\"not_stopped\",\"message\":\"it sleeps\"},"
        "{\"tid\":10000,\"name\":\"gone\",\"state\":\"S\","
        "\"status\":\"unreadable\",\"record\":\"0x8\","
        "\"message\":\"nowhere\"}]}\n";

    build_threads();
    const char *const found = strstr(print(), ",\"thread_context\":");
    cr_assert_not_null(found);
    cr_expect_str_eq(found, expected);
}

Test(reader_json, a_variable_in_dynamic_storage_has_a_module)
{
    build_threads();
    threads.search.tls.symbol.access = OTELREAD_TLSDESC_DYNAMIC;
    threads.search.tls.symbol.module = 2;
    threads.search.tls.symbol.offset = 16;
    cr_expect(strstr(print(), "\"access\":\"tlsdesc-dynamic\","
                              "\"module\":\"2\",\"offset\":\"16\"}"),
              "%s", print());
}

Test(reader_json, threads_that_cannot_be_read_are_an_empty_array_and_a_message)
{
    build("", 0);
    threads = (struct otelread_threads){
        .status = OTELREAD_THREADS_NOT_ANNOUNCED, .message = "the \"reason\""};
    report.threads = &threads;
    cr_expect(strstr(print(),
                     ",\"thread_context\":{\"status\":\"not_announced\","
                     "\"message\":\"the \\\"reason\\\"\",\"keys\":[],"
                     "\"stopped\":false},\"threads\":[]}\n"),
              "%s", print());
}

Test(reader_json, every_status_of_threads_has_its_documented_name)
{
    static const char *const of_all[] = {
        "ok",        "no_context",  "not_announced", "other_schema",
        "no_symbol", "unsupported", "no_permission", "busy",
        "error"};
    static const char *const of_one[] = {
        "attached",      "detached",   "invalid", "untouched",
        "malformed",     "unreadable", "ended",   "not_stopped",
        "no_permission", "busy",       "error"};

    for (size_t i = 0; i < sizeof(of_all) / sizeof(of_all[0]); i++)
        cr_expect_str_eq(
            otelread_threads_status_name((enum otelread_threads_status)i),
            of_all[i]);
    for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++)
        cr_expect_str_eq(
            otelread_thread_status_name((enum otelread_thread_status)i),
            of_one[i]);
}
