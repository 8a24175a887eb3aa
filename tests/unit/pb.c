/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pb.h"

#include <criterion/criterion.h>

static bool wrote(const uint8_t *out, const uint8_t *end,
                  struct otelctx_span expected)
{
    const struct otelctx_span all = {(const char *)out, (size_t)(end - out)};

    return otelctx_span_equal(all, expected);
}

Test(pb, a_field_begins_with_its_number_and_its_size)
{
    static const struct {
        unsigned number;
        size_t size;
        struct otelctx_span head;
    } rows[] = {
        {1, 0, OTELCTX_SPAN_INIT("\x0a\x00")},
        {1, 1, OTELCTX_SPAN_INIT("\x0a\x01")},
        {2, 127, OTELCTX_SPAN_INIT("\x12\x7f")},
        {5, 128, OTELCTX_SPAN_INIT("\x2a\x80\x01")},
        {1, 150, OTELCTX_SPAN_INIT("\x0a\x96\x01")},
        {15, 16383, OTELCTX_SPAN_INIT("\x7a\xff\x7f")},
        {1, 16384, OTELCTX_SPAN_INIT("\x0a\x80\x80\x01")},
        {1, 65536, OTELCTX_SPAN_INIT("\x0a\x80\x80\x04")},
        {1, 2097151, OTELCTX_SPAN_INIT("\x0a\xff\xff\x7f")},
        {1, 2097152, OTELCTX_SPAN_INIT("\x0a\x80\x80\x80\x01")},
        {1, UINT32_MAX, OTELCTX_SPAN_INIT("\x0a\xff\xff\xff\xff\x0f")},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t out[10];
        uint8_t *end = otelctx_pb_field(out, rows[i].number, rows[i].size);

        cr_expect(wrote(out, end, rows[i].head), "row %zu", i);
        cr_expect_eq(otelctx_pb_size(rows[i].size),
                     rows[i].head.size + rows[i].size, "row %zu", i);
    }
}

Test(pb, writes_strings_one_behind_the_other)
{
    uint8_t out[8], *end = out;

    end = otelctx_pb_bytes(end, 1, OTELCTX_SPAN("ab"));
    end = otelctx_pb_bytes(end, 2, OTELCTX_SPAN(""));
    end = otelctx_pb_bytes(end, 1, (struct otelctx_span){NULL, 0});
    cr_expect(wrote(out, end,
                    OTELCTX_SPAN("\x0a\x02"
                                 "ab\x12\x00\x0a\x00")));
}

Test(pb, writes_no_further_than_it_says)
{
    uint8_t out[16];
    const uint8_t *end;

    memset(out, 0xaa, sizeof(out));
    end = otelctx_pb_bytes(out, 1, OTELCTX_SPAN("abc"));
    cr_expect_eq((size_t)(end - out), otelctx_pb_size(3));
    for (; end < out + sizeof(out); end++)
        cr_expect_eq(*end, 0xaa);
}

Test(pb, takes_fields_one_behind_the_other)
{
    struct otelctx_span rest = OTELCTX_SPAN("\x0a\x02"
                                            "ab\x12\x00\x7a\x01z");

    cr_expect(otelctx_span_equal(otelctx_pb_take(&rest), OTELCTX_SPAN("ab")));
    cr_expect(otelctx_span_equal(otelctx_pb_take(&rest), OTELCTX_SPAN("")));
    cr_expect_eq(rest.size, 3);
    cr_expect(otelctx_span_equal(otelctx_pb_take(&rest), OTELCTX_SPAN("z")));
    cr_expect_eq(rest.size, 0);
}

Test(pb, takes_what_it_wrote)
{
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 65535, 65536};
    static uint8_t out[65536 + 8];
    static char bytes[65536];

    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct otelctx_span written = {bytes, sizes[i]};
        struct otelctx_span rest = {(const char *)out, 0}, taken;
        uint8_t *end = otelctx_pb_bytes(out, 2, written);

        end = otelctx_pb_bytes(end, 1, OTELCTX_SPAN(""));
        rest.size = (size_t)(end - out);
        taken = otelctx_pb_take(&rest);
        cr_expect(otelctx_span_equal(taken, written), "%zu", sizes[i]);
        cr_expect_eq(rest.at, taken.at + taken.size, "%zu", sizes[i]);
        cr_expect_eq(rest.size, 2, "%zu", sizes[i]);
    }
}
