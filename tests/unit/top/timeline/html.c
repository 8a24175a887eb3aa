/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/html.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *written;
static size_t written_size;

static FILE *begin(void)
{
    FILE *const out = open_memstream(&written, &written_size);

    cr_assert(out);
    return out;
}

static void expect_written(FILE *out, const char *expected)
{
    (void)fclose(out);
    cr_expect_str_eq(written, expected, "%s, not %s", written, expected);
    free(written);
}

static void expect_text(const char *text, size_t size, const char *expected)
{
    FILE *const out = begin();

    oteltime_html_text(out, text, size);
    expect_written(out, expected);
}

Test(top_html, text_is_escaped)
{
    expect_text("<a href=\"x\" b='&amp;'>", 22,
                "&#60;a href=&#34;x&#34; b=&#39;&#38;amp;&#39;&#62;");
    expect_text("\xc3\xa9\xe2\x82\xac", 5, "\xc3\xa9\xe2\x82\xac");
}

#define REPLACED "\xef\xbf\xbd"
Test(top_html, hazards_are_replaced)
{
    /* U+202E, x, U+2028, U+2066, U+0085 */
    static const char reordering[] = {'\xe2', '\x80', '\xae', 'x',
                                      '\xe2', '\x80', '\xa8', '\xe2',
                                      '\x81', '\xa6', '\xc2', '\x85'};

    expect_text("a\0b\x1b[\n", 6, "a" REPLACED "b" REPLACED "[" REPLACED);
    expect_text("\xff\xc3", 2, REPLACED REPLACED);
    expect_text(reordering, sizeof(reordering),
                REPLACED "x" REPLACED REPLACED REPLACED);
}

Test(top_html, json_has_no_lesser_sign)
{
    FILE *const out = begin();

    oteltime_html_json(out, "[\"</script><!--\"]", 17);
    expect_written(out, "[\"\\u003c/script>\\u003c!--\"]");
}

Test(top_html, base64_is_that_of_the_rfc)
{
    static const char *const encoded[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

    for (size_t size = 0; size <= 6; size++) {
        FILE *const out = begin();

        oteltime_html_base64(out, (const uint8_t *)"foobar", size);
        expect_written(out, encoded[size]);
    }
}

Test(top_html, numbers_have_commas)
{
    FILE *const out = begin();

    oteltime_html_number(out, 0);
    (void)putc(' ', out);
    oteltime_html_number(out, 999);
    (void)putc(' ', out);
    oteltime_html_number(out, 1000);
    (void)putc(' ', out);
    oteltime_html_number(out, 12034005);
    expect_written(out, "0 999 1,000 12,034,005");
}

Test(top_html, times_have_the_unit_that_suits)
{
    static const struct {
        uint64_t ns;
        const char *time, *seconds;
    } rows[] = {
        {0, "0 µs", "0.000"},
        {45, "0.045 µs", "0.000"},
        {41000, "41 µs", "0.000"},
        {999949, "1000 µs", "0.001"},
        {999950, "1.0 ms", "0.001"},
        {12345678, "12.3 ms", "0.012"},
        {999949999, "999.9 ms", "1.000"},
        {999950000, "1.00 s", "1.000"},
        {UINT64_C(61234500000), "61.23 s", "61.235"},
        {UINT64_C(1234567000000), "1234.57 s", "1,234.567"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        FILE *out = begin();

        oteltime_html_time(out, rows[i].ns);
        expect_written(out, rows[i].time);
        out = begin();
        oteltime_html_seconds(out, rows[i].ns);
        expect_written(out, rows[i].seconds);
    }
}
