/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/print/raw.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/printed.h"

static uint8_t payload[512];
static struct otelread_context context;
static struct otelread_report report;

static void build(const char *bytes, size_t size)
{
    cr_assert_leq(size, sizeof(payload));
    memcpy(payload, bytes, size);
    context = (struct otelread_context){
        .mapping = {0x7000, 0x8000, "rw-p", "/memfd:OTEL_CTX (deleted)", true},
        .established = true,
        .has_header = true,
        .header = {.signature = "OTEL_CTX",
                   .version = 2,
                   .payload_size = (uint32_t)size,
                   .published_at_ns = 258,
                   .payload = 0x7020},
        .payload = payload,
    };
    memcpy(&context.raw, &context.header, sizeof(context.raw));
    report = (struct otelread_report){
        .target = {.pid = 4711}, .contexts = {.list = &context, .count = 1}};
    strcpy(report.target.command, "app");
    if (otelread_decode(payload, size, &context.decoded, &context.fault) == 0)
        return;
    context.status = OTELREAD_INVALID;
    strcpy(context.message, "bad");
}

static const char *print(void)
{
    return printed(otelread_raw_print, &report);
}

/* The output behind the title of the payload. */
static const char *rows(void)
{
    const char *const title = strstr(print(), "  payload at 0x7020, ");

    cr_assert_not_null(title);
    return strchr(title, '\n') + 1;
}

#define ROWS(bytes) (build((bytes), sizeof(bytes) - 1), rows())

Test(reader_raw, the_header_is_shown_field_by_field)
{
    static const char expected[] =
        "PID 4711 (app)\n"
        "  mapping    7000-8000 rw-p /memfd:OTEL_CTX (deleted)\n"
        "  header at 0x7000, 32 bytes\n"
        "    0000  4f 54 45 4c 5f 43 54 58                          "
        "signature \"OTEL_CTX\"\n"
        "    0008  02 00 00 00                                      "
        "version 2\n"
        "    000c  02 00 00 00                                      "
        "payload_size 2\n"
        "    0010  02 01 00 00 00 00 00 00                          "
        "published_at_ns 258\n"
        "    0018  20 70 00 00 00 00 00 00                          "
        "payload 0x7020\n"
        "  payload at 0x7020, 2 bytes\n";

    build("\x12\x00", 2);
    cr_expect_eq(strncmp(print(), expected, strlen(expected)), 0, "%s",
                 print());
}

Test(reader_raw, the_payload_is_shown_a_field_a_line_and_indented)
{
    cr_expect_str_eq(
        ROWS("\x0a\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01v"),
        "    0000  0a 0a                                            "
        "resource: Resource, 10 bytes\n"
        "    0002  0a 08                                              "
        "attributes: KeyValue, 8 bytes\n"
        "    0004  0a 01 6b                                             "
        "key \"k\"\n"
        "    0007  12 03                                                "
        "value: AnyValue, 3 bytes\n"
        "    0009  0a 01 76                                               "
        "string_value \"v\"\n");
}

Test(reader_raw, a_long_field_goes_on_in_further_rows)
{
    cr_expect_str_eq(ROWS("\x12\x14\x0a\x12"
                          "abcdefghijklmnopqr"),
                     "    0000  12 14                                         "
                     "   extra_attributes: KeyValue, 20 bytes\n"
                     "    0002  0a 12 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d "
                     "6e    key \"abcdefghijklmnopqr\"\n"
                     "    0012  6f 70 71 72\n");
}

Test(reader_raw, every_byte_of_the_payload_appears_once)
{
    static const char bytes[] = "\x0a\x05\x0a\x03\x0a\x01k\x78\x05\x12\x03\x0a"
                                "\x02k\x18";
    size_t count = 0;

    for (const char *row = ROWS(bytes); strncmp(row, "    ", 4) == 0;
         row = strchr(row, '\n') + 1) {
        if (strncmp(row, "          ", 10) == 0 || row[10] == '^')
            continue; /* a mark */
        cr_expect_eq(strtoul(row + 4, NULL, 16), count);
        for (const char *hex = row + 10; *hex != ' ' && *hex != '\n';
             hex += 3) {
            cr_expect_eq(strtoul(hex, NULL, 16), (uint8_t)bytes[count]);
            count++;
            if (hex[2] == '\n')
                break;
        }
    }
    cr_expect_eq(count, sizeof(bytes) - 1);
}

Test(reader_raw, numbers_and_unknown_fields_are_annotated)
{
    cr_expect(strstr(ROWS("\x12\x02\x18\x05"), "unknown field 3, 5\n"));
    cr_expect(strstr(ROWS("\x7a\x02"
                          "ab"),
                     "unknown field 15, 2 bytes\n"));
    cr_expect(strstr(ROWS("\x12\x04\x12\x02\x10\x01"), "bool_value true\n"));
    cr_expect(strstr(ROWS("\x12\x0b\x12\x09\x21\0\0\0\0\0\0\x04\x40"),
                     "double_value 2.5\n"));
    cr_expect(strstr(ROWS("\x0a\x02\x10\x03"), "dropped_attributes_count 3\n"));
}

Test(reader_raw, a_mark_points_at_the_byte_that_is_wrong)
{
    cr_expect_str_eq(
        ROWS("\x12\x05\x0a\x03"
             "ab\xff\x12\x00"),
        "    0000  12 05                                            "
        "extra_attributes: KeyValue, 5 bytes\n"
        "    0002  0a 03 61 62 ff                                     "
        "key \"ab\\xff\"\n"
        "                      ^^ byte 6: invalid UTF-8 (0xff) in a key\n"
        "    0007  12 00                                            "
        "extra_attributes: KeyValue, 0 bytes\n"
        "  invalid_context: bad\n");
}

Test(reader_raw, a_truncated_payload_is_shown_to_its_end)
{
    cr_expect_str_eq(
        ROWS("\x0a\x50\x0a\x03\x0a\x01k\x0a"),
        "    0000  0a 50                                            "
        "resource: Resource, cut off after 6\n"
        "             ^^ byte 1: length 80, but its message has 6 bytes left\n"
        "    0002  0a 03                                              "
        "attributes: KeyValue, 3 bytes\n"
        "    0004  0a 01 6b                                             "
        "key \"k\"\n"
        "    0007  0a                                                 "
        "(not decoded)\n"
        "  invalid_context: bad\n");
}

Test(reader_raw, a_fault_at_the_end_is_marked_behind_the_last_byte)
{
    cr_expect(strstr(ROWS("\x12"),
                     "    0001  ^^ byte 1, the end: a length is cut off\n"));
}

Test(reader_raw, text_is_escaped_and_long_text_cut)
{
    cr_expect(strstr(ROWS("\x12\x06\x0a\x04\x1b[2J"), "key \"\\x1b[2J\"\n"));
    cr_expect(strstr(ROWS("\x12\x3e\x0a\x3c"
                          "123456789 123456789 123456789 123456789 123456789 "
                          "123456789 "),
                     "key \"123456789 123456789 123456789 123456789 "
                     "12345678...\"\n"));
}

Test(reader_raw, a_header_without_payload_is_shown_alone)
{
    build("", 0);
    context.payload = NULL;
    context.status = OTELREAD_INVALID;
    strcpy(context.message, "the payload size is 0");
    cr_expect(strstr(print(), "payload_size 0\n"));
    cr_expect(!strstr(print(), "payload at"));
    cr_expect(strstr(print(), "  invalid_context: the payload size is 0\n"));
}
