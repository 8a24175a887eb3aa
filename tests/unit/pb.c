/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pb.h"

#include <criterion/criterion.h>

struct row {
    uint64_t number;
    struct otelctx_span encoded;
};

static const struct row varints[] = {
    {0, OTELCTX_SPAN_INIT("\x00")},
    {1, OTELCTX_SPAN_INIT("\x01")},
    {127, OTELCTX_SPAN_INIT("\x7f")},
    {128, OTELCTX_SPAN_INIT("\x80\x01")},
    {150, OTELCTX_SPAN_INIT("\x96\x01")},
    {16383, OTELCTX_SPAN_INIT("\xff\x7f")},
    {16384, OTELCTX_SPAN_INIT("\x80\x80\x01")},
    {65536, OTELCTX_SPAN_INIT("\x80\x80\x04")},
    {2097151, OTELCTX_SPAN_INIT("\xff\xff\x7f")},
    {2097152, OTELCTX_SPAN_INIT("\x80\x80\x80\x01")},
    {UINT32_MAX, OTELCTX_SPAN_INIT("\xff\xff\xff\xff\x0f")},
    {(uint64_t)1 << 32, OTELCTX_SPAN_INIT("\x80\x80\x80\x80\x10")},
    {INT64_MAX, OTELCTX_SPAN_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\x7f")},
    {UINT64_MAX, OTELCTX_SPAN_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
};

static bool wrote(const struct otelctx_pb *pb, struct otelctx_span expected)
{
    return otelctx_span_equal(
        (struct otelctx_span){(const char *)pb->out, pb->size}, expected);
}

Test(pb, a_varint_takes_seven_bits_a_byte)
{
    for (size_t i = 0; i < sizeof(varints) / sizeof(varints[0]); i++) {
        uint8_t out[10];
        struct otelctx_pb pb = {.out = out};

        otelctx_pb_varint(&pb, varints[i].number);
        cr_expect(wrote(&pb, varints[i].encoded), "%llu",
                  (unsigned long long)varints[i].number);
    }
}

Test(pb, without_room_only_counts)
{
    for (size_t i = 0; i < sizeof(varints) / sizeof(varints[0]); i++) {
        struct otelctx_pb pb = {0};

        otelctx_pb_varint(&pb, varints[i].number);
        cr_expect_eq(pb.size, varints[i].encoded.size, "%llu",
                     (unsigned long long)varints[i].number);
        cr_expect_null(pb.out);
    }
}

Test(pb, a_field_begins_with_its_number_and_its_size)
{
    static const struct {
        unsigned number;
        size_t size;
        struct otelctx_span head;
    } rows[] = {
        {1, 0, OTELCTX_SPAN_INIT("\x0a\x00")},
        {2, 127, OTELCTX_SPAN_INIT("\x12\x7f")},
        {5, 128, OTELCTX_SPAN_INIT("\x2a\x80\x01")},
        {15, 16383, OTELCTX_SPAN_INIT("\x7a\xff\x7f")},
        {16, 16384, OTELCTX_SPAN_INIT("\x82\x01\x80\x80\x01")},
        {(1u << 29) - 1, 1, OTELCTX_SPAN_INIT("\xfa\xff\xff\xff\x0f\x01")},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t out[10];
        struct otelctx_pb pb = {.out = out}, count = {0};

        otelctx_pb_field(&pb, rows[i].number, rows[i].size);
        otelctx_pb_field(&count, rows[i].number, rows[i].size);
        cr_expect(wrote(&pb, rows[i].head), "row %zu", i);
        cr_expect_eq(count.size, rows[i].head.size, "row %zu", i);
    }
}

Test(pb, writes_strings_one_behind_the_other)
{
    uint8_t out[8];
    struct otelctx_pb pb = {.out = out};

    otelctx_pb_bytes(&pb, 1, OTELCTX_SPAN("ab"));
    otelctx_pb_bytes(&pb, 2, OTELCTX_SPAN(""));
    otelctx_pb_bytes(&pb, 1, (struct otelctx_span){NULL, 0});
    cr_expect(wrote(&pb, OTELCTX_SPAN("\x0a\x02"
                                      "ab\x12\x00\x0a\x00")));
}

Test(pb, writes_no_further_than_it_counts)
{
    uint8_t out[16];
    struct otelctx_pb pb = {.out = out}, count = {0};

    memset(out, 0xaa, sizeof(out));
    otelctx_pb_bytes(&count, 1, OTELCTX_SPAN("abc"));
    otelctx_pb_bytes(&pb, 1, OTELCTX_SPAN("abc"));
    cr_expect_eq(pb.size, count.size);
    for (size_t i = count.size; i < sizeof(out); i++)
        cr_expect_eq(out[i], 0xaa);
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
        struct otelctx_pb pb = {.out = out};
        struct otelctx_span rest, taken;

        otelctx_pb_bytes(&pb, 2, written);
        otelctx_pb_bytes(&pb, 1, OTELCTX_SPAN(""));
        rest = (struct otelctx_span){(const char *)out, pb.size};
        taken = otelctx_pb_take(&rest);
        cr_expect(otelctx_span_equal(taken, written), "%zu", sizes[i]);
        cr_expect_eq(rest.at, taken.at + taken.size, "%zu", sizes[i]);
        cr_expect_eq(rest.size, 2, "%zu", sizes[i]);
    }
}
