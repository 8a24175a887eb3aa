/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/protobuf.h"

#include <criterion/criterion.h>

static uint8_t memory[65536 + 16];

/* A writer of the end of that memory, which is all 0xaa. */
static struct otelctx_protobuf begin(void)
{
    memset(memory, 0xaa, sizeof(memory));
    return (struct otelctx_protobuf){memory + sizeof(memory), 0};
}

static bool wrote(const struct otelctx_protobuf *out,
                  struct otelctx_span expected)
{
    const struct otelctx_span all = {
        (const char *)out->at, (size_t)(memory + sizeof(memory) - out->at)};

    return out->size == all.size && otelctx_span_equal(all, expected);
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
        struct otelctx_protobuf out = begin(), counted = {NULL, rows[i].size};

        /* A body as long as that, behind the head. */
        out.size = rows[i].size;
        otelctx_protobuf_head(&out, rows[i].number, 0);
        out.size -= rows[i].size;
        cr_expect(wrote(&out, rows[i].head), "row %zu", i);

        otelctx_protobuf_head(&counted, rows[i].number, 0);
        cr_expect_eq(counted.size, rows[i].size + rows[i].head.size, "row %zu",
                     i);
        cr_expect_null(counted.at);
    }
}

Test(pb, writes_strings_one_before_the_other)
{
    struct otelctx_protobuf out = begin();

    otelctx_protobuf_bytes(&out, 1, (struct otelctx_span){NULL, 0});
    otelctx_protobuf_bytes(&out, 2, OTELCTX_SPAN(""));
    otelctx_protobuf_bytes(&out, 1, OTELCTX_SPAN("ab"));
    cr_expect(wrote(&out, OTELCTX_SPAN("\x0a\x02"
                                       "ab\x12\x00\x0a\x00")));
}

Test(pb, a_message_has_what_was_written_since_it_began)
{
    struct otelctx_protobuf out = begin();
    size_t since;

    otelctx_protobuf_bytes(&out, 2, OTELCTX_SPAN("z"));
    since = out.size;
    otelctx_protobuf_bytes(&out, 1, OTELCTX_SPAN("ab"));
    otelctx_protobuf_head(&out, 3, since);
    cr_expect(wrote(&out, OTELCTX_SPAN("\x1a\x04\x0a\x02"
                                       "ab\x12\x01z")));
}

Test(pb, writes_nothing_before_what_it_counts)
{
    struct otelctx_protobuf out = begin();

    otelctx_protobuf_bytes(&out, 1, OTELCTX_SPAN("abc"));
    cr_expect_eq(out.size, 5);
    for (const uint8_t *at = memory; at < out.at; at++)
        cr_assert_eq(*at, 0xaa);
}

Test(pb, without_memory_counts_what_it_would_write)
{
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 65535, 65536};
    static char bytes[65536];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct otelctx_protobuf out = begin(), counted = {0};

        otelctx_protobuf_bytes(&out, 2, (struct otelctx_span){bytes, sizes[i]});
        otelctx_protobuf_bytes(&counted, 2,
                               (struct otelctx_span){bytes, sizes[i]});
        cr_expect_eq(counted.size, out.size, "%zu", sizes[i]);
        cr_expect_eq(out.at + out.size, memory + sizeof(memory));
        cr_expect_null(counted.at);
    }
}

Test(pb, takes_fields_one_behind_the_other)
{
    struct otelctx_span rest = OTELCTX_SPAN("\x0a\x02"
                                            "ab\x12\x00\x7a\x01z");

    cr_expect(
        otelctx_span_equal(otelctx_protobuf_take(&rest), OTELCTX_SPAN("ab")));
    cr_expect(
        otelctx_span_equal(otelctx_protobuf_take(&rest), OTELCTX_SPAN("")));
    cr_expect_eq(rest.size, 3);
    cr_expect(
        otelctx_span_equal(otelctx_protobuf_take(&rest), OTELCTX_SPAN("z")));
    cr_expect_eq(rest.size, 0);
}

Test(pb, takes_what_it_wrote)
{
    static const size_t sizes[] = {0, 1, 127, 128, 16383, 16384, 65535, 65536};
    static char bytes[65536];

    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct otelctx_span written = {bytes, sizes[i]};
        struct otelctx_protobuf out = begin();
        struct otelctx_span rest, taken;

        otelctx_protobuf_bytes(&out, 1, OTELCTX_SPAN(""));
        otelctx_protobuf_bytes(&out, 2, written);
        rest = (struct otelctx_span){(const char *)out.at, out.size};
        taken = otelctx_protobuf_take(&rest);
        cr_expect(otelctx_span_equal(taken, written), "%zu", sizes[i]);
        cr_expect_eq(rest.at, taken.at + taken.size, "%zu", sizes[i]);
        cr_expect_eq(rest.size, 2, "%zu", sizes[i]);
    }
}
