/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/text/json_writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct otelread_json json;
static char *text;
static size_t size;

static void writer_open(void)
{
    json = (struct otelread_json){.out = open_memstream(&text, &size)};
    cr_assert_not_null(json.out);
}

static void writer_free(void)
{
    free(text);
}

#define EXPECT_WRITTEN(expected)                                               \
    do {                                                                       \
        fclose(json.out);                                                      \
        cr_expect_str_eq(text, (expected));                                    \
    } while (0)

TestSuite(reader_json_writer, .init = writer_open, .fini = writer_free);

Test(reader_json_writer, a_first_element_has_no_comma_in_front)
{
    otelread_json_open(&json, '[');
    otelread_json_literal(&json, "%d", 1);
    otelread_json_text(&json, "two");
    otelread_json_quoted(&json, "%u", 3U);
    otelread_json_close(&json, ']');
    EXPECT_WRITTEN("[1,\"two\",\"3\"]");
}

Test(reader_json_writer, a_value_has_no_comma_behind_its_key)
{
    otelread_json_open(&json, '{');
    otelread_json_key(&json, "a");
    otelread_json_literal(&json, "null");
    otelread_json_key(&json, "b");
    otelread_json_open(&json, '[');
    otelread_json_close(&json, ']');
    otelread_json_key(&json, "c");
    otelread_json_text(&json, "");
    otelread_json_close(&json, '}');
    EXPECT_WRITTEN("{\"a\":null,\"b\":[],\"c\":\"\"}");
}

Test(reader_json_writer, what_follows_an_empty_array_or_object_has_a_comma)
{
    otelread_json_open(&json, '[');
    for (int i = 0; i < 2; i++) {
        otelread_json_open(&json, '{');
        otelread_json_close(&json, '}');
        otelread_json_open(&json, '[');
        otelread_json_close(&json, ']');
    }
    otelread_json_close(&json, ']');
    EXPECT_WRITTEN("[{},[],{},[]]");
}

Test(reader_json_writer, hexadecimal_and_base64_are_strings)
{
    static const uint8_t bytes[] = {0x00, 0xfb, 0xff, 0x0a};

    otelread_json_open(&json, '[');
    otelread_json_hex(&json, bytes, sizeof(bytes));
    otelread_json_base64(&json, bytes, sizeof(bytes));
    otelread_json_close(&json, ']');
    EXPECT_WRITTEN("[\"00fbff0a\",\"APv/Cg==\"]");
}
