/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/base/utf8.h"
#include "demo/base/escape.h"

#include <criterion/criterion.h>
#include <string.h>

#define SPAN(text) otelbase_utf8_span((const uint8_t *)(text), sizeof(text) - 1)

static const char *escaped(const char *text, size_t size)
{
    static char out[256];

    otelbase_escape_copy(out, sizeof(out), text, size);
    return out;
}

#define ESCAPED(text) escaped((text), sizeof(text) - 1)

Test(reader_utf8, characters_of_one_to_four_bytes_are_valid)
{
    cr_expect_eq(SPAN("a\xc2\xa2\xe2\x82\xac\xf0\x90\x8d\x88"), 10);
    cr_expect_eq(SPAN(""), 0);
    cr_expect_eq(SPAN("a\0b"), 3, "NUL is a character");
}

Test(reader_utf8, a_character_has_its_code)
{
    uint32_t code = 0;

    cr_expect_eq(otelbase_utf8_next((const uint8_t *)"\xe2\x82\xac", 3, &code),
                 3);
    cr_expect_eq(code, 0x20ac);
    cr_expect_eq(
        otelbase_utf8_next((const uint8_t *)"\xf4\x8f\xbf\xbf", 4, &code), 4);
    cr_expect_eq(code, 0x10ffff);
}

Test(reader_utf8, the_first_and_last_code_of_each_length_are_valid)
{
    cr_expect_eq(SPAN("\x7f"), 1);
    cr_expect_eq(SPAN("\xc2\x80\xdf\xbf"), 4);
    cr_expect_eq(SPAN("\xe0\xa0\x80\xef\xbf\xbf"), 6);
    cr_expect_eq(SPAN("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), 8);
}

Test(reader_utf8, overlong_forms_are_invalid)
{
    cr_expect_eq(SPAN("a\xc0\x80"), 1);
    cr_expect_eq(SPAN("a\xc1\xbf"), 1);
    cr_expect_eq(SPAN("a\xe0\x9f\xbf"), 1);
    cr_expect_eq(SPAN("a\xf0\x8f\xbf\xbf"), 1);
}

Test(reader_utf8, surrogates_and_codes_beyond_unicode_are_invalid)
{
    cr_expect_eq(SPAN("\xed\x9f\xbf"), 3);
    cr_expect_eq(SPAN("\xed\xa0\x80"), 0);
    cr_expect_eq(SPAN("\xed\xbf\xbf"), 0);
    cr_expect_eq(SPAN("\xee\x80\x80"), 3);
    cr_expect_eq(SPAN("\xf4\x90\x80\x80"), 0);
    cr_expect_eq(SPAN("\xf5\x80\x80\x80"), 0);
    cr_expect_eq(SPAN("\xff"), 0);
}

Test(reader_utf8, cut_characters_and_stray_continuations_are_invalid)
{
    cr_expect_eq(SPAN("ab\xe2\x82"), 2);
    cr_expect_eq(SPAN("ab\xe2\x82g"), 2);
    cr_expect_eq(SPAN("ab\x80"), 2);
    cr_expect_eq(SPAN("ab\xf0\x90\x8d"), 2);
}

Test(reader_utf8, control_characters_are_escaped)
{
    cr_expect_str_eq(ESCAPED("a\n\t\r\x1b[2J\x7f\x01"),
                     "a\\n\\t\\r\\x1b[2J\\x7f\\x01");
    cr_expect_str_eq(ESCAPED("a\0b"), "a\\x00b");
}

Test(reader_utf8, c1_controls_are_escaped)
{
    cr_expect_str_eq(ESCAPED("\xc2\x80\xc2\x9b\xc2\x9f"),
                     "\\u{0080}\\u{009b}\\u{009f}");
    cr_expect_str_eq(ESCAPED("\xc2\xa0"), "\xc2\xa0");
}

Test(reader_utf8, bidi_overrides_and_isolates_are_escaped)
{
    cr_expect_str_eq(ESCAPED("\xe2\x80\xaa\xe2\x80\xac"), "\\u{202a}\\u{202c}");
    cr_expect_str_eq(ESCAPED("\xe2\x80\xae\xe2\x80\xac"), "\\u{202e}\\u{202c}");
    cr_expect_str_eq(ESCAPED("\xe2\x81\xa6\xe2\x81\xa9"), "\\u{2066}\\u{2069}");
    cr_expect_str_eq(ESCAPED("\xe2\x80\xa8"), "\\u{2028}");
}

Test(reader_utf8, quotes_and_backslashes_are_escaped)
{
    cr_expect_str_eq(ESCAPED("\"\\"), "\\\"\\\\");
}

Test(reader_utf8, invalid_bytes_are_escaped_one_by_one)
{
    cr_expect_str_eq(ESCAPED("a\xff\xe2\x82z"), "a\\xff\\xe2\\x82z");
}

Test(reader_utf8, other_text_stays_as_it_is)
{
    cr_expect_str_eq(ESCAPED("caf\xc3\xa9 \xf0\x9f\x98\x80"),
                     "caf\xc3\xa9 \xf0\x9f\x98\x80");
}

Test(reader_utf8, a_copy_that_does_not_fit_ends_in_dots)
{
    char out[9];

    otelbase_escape_copy(out, sizeof(out), "12345678", 8);
    cr_expect_str_eq(out, "12345678");
    otelbase_escape_copy(out, sizeof(out), "123456789", 9);
    cr_expect_str_eq(out, "12345...");
    otelbase_escape_copy(out, sizeof(out), "1234\n\n\n", 7);
    cr_expect_str_eq(out, "1234...", "an escape is never half");
    otelbase_escape_copy(out, 3, "1234", 4);
    cr_expect_str_eq(out, "12");
    otelbase_escape_copy(out, sizeof(out), NULL, 0);
    cr_expect_str_eq(out, "");
}

Test(reader_utf8, width_counts_characters_not_bytes)
{
    cr_expect_eq(otelbase_escape_width("caf\xc3\xa9", 5), 4);
    cr_expect_eq(otelbase_escape_width("a\x1b", 2), 5);
}
