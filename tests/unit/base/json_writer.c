/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/json_writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct otelbase_json json;
static char *text;
static size_t size;

static void writer_open(void)
{
    json = (struct otelbase_json){.out = open_memstream(&text, &size)};
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
    otelbase_json_open(&json, '[');
    otelbase_json_literal(&json, "%d", 1);
    otelbase_json_text(&json, "two");
    otelbase_json_quoted(&json, "%u", 3U);
    otelbase_json_close(&json, ']');
    EXPECT_WRITTEN("[1,\"two\",\"3\"]");
}

Test(reader_json_writer, a_value_has_no_comma_behind_its_key)
{
    otelbase_json_open(&json, '{');
    otelbase_json_key(&json, "a");
    otelbase_json_literal(&json, "null");
    otelbase_json_key(&json, "b");
    otelbase_json_open(&json, '[');
    otelbase_json_close(&json, ']');
    otelbase_json_key(&json, "c");
    otelbase_json_text(&json, "");
    otelbase_json_close(&json, '}');
    EXPECT_WRITTEN("{\"a\":null,\"b\":[],\"c\":\"\"}");
}

Test(reader_json_writer, what_follows_an_empty_array_or_object_has_a_comma)
{
    otelbase_json_open(&json, '[');
    for (int i = 0; i < 2; i++) {
        otelbase_json_open(&json, '{');
        otelbase_json_close(&json, '}');
        otelbase_json_open(&json, '[');
        otelbase_json_close(&json, ']');
    }
    otelbase_json_close(&json, ']');
    EXPECT_WRITTEN("[{},[],{},[]]");
}

Test(reader_json_writer, hexadecimal_and_base64_are_strings)
{
    static const uint8_t bytes[] = {0x00, 0xfb, 0xff, 0x0a};

    otelbase_json_open(&json, '[');
    otelbase_json_hex(&json, bytes, sizeof(bytes));
    otelbase_json_base64(&json, bytes, sizeof(bytes));
    otelbase_json_close(&json, ']');
    EXPECT_WRITTEN("[\"00fbff0a\",\"APv/Cg==\"]");
}
