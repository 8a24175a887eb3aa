/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/timeline/pack.h"

#include "tests/unit/top/timeline/lines.h"

static void expect_bytes(const struct oteltime_bytes *bytes,
                         const uint8_t *expected, size_t size)
{
    cr_expect_eq(bytes->size, size, "%zu", bytes->size);
    for (size_t i = 0; i < size && i < bytes->size; i++)
        cr_expect_eq(bytes->bytes[i], expected[i], "byte %zu: %d", i,
                     bytes->bytes[i]);
}

Test(top_pack, numbers_take_seven_bits_a_byte)
{
    static const uint8_t expected[] = {0,    127,  0x80, 1,    0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    struct oteltime_bytes bytes = {.size = 0};

    oteltime_bytes_number(&bytes, 0);
    oteltime_bytes_number(&bytes, 127);
    oteltime_bytes_number(&bytes, 128);
    oteltime_bytes_number(&bytes, UINT64_MAX);
    expect_bytes(&bytes, expected, sizeof(expected));
    free(bytes.bytes);
}

/* 10 ms are 1000 units: 0xe8, 7. */
Test(top_pack, usual_boxes_have_no_parts)
{
    struct oteltime_timeline timeline = lines_read(LINES_START LINES_SPAN(
        "1", "1", "/cart") SAMPLE("10", "2", "'span':1", "R", "10"));
    static const size_t rows[] = {1, 0};
    struct oteltime_packed packed = oteltime_pack(&timeline, rows);
    static const uint8_t boxes[] = {1, 0, 0xe8, 7, 0, /* no other row */ 0};
    static const uint8_t spans[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0};

    expect_bytes(&packed.boxes, boxes, sizeof(boxes));
    expect_bytes(&packed.spans, spans, sizeof(spans));
    cr_expect_eq(packed.traces.size, 16);
    cr_expect_eq(packed.traces.bytes[15], 0xef);
    oteltime_packed_free(&packed);
    oteltime_timeline_free(&timeline);
}

Test(top_pack, unusual_boxes_have_the_parts_that_differ)
{
    /* Two samples in 30 ms, one of them not running, after a gap of 10 ms. */
    struct oteltime_timeline timeline = lines_read(
        LINES_START LINES_SPAN("1", "1", "/cart")
            SAMPLE("20", "1", "'none':'x'", "R", "11")
                SAMPLE("50", "1", "'span':1", "R", "9")
                    SAMPLE("70", "1", "'span':1", "D", "1")
                        SAMPLE("80", "1", "'none':'x'", "R", "10")
                            SAMPLE("90", "1", "'span':1", "R", "10"));
    static const size_t rows[] = {0, 1};
    struct oteltime_packed packed = oteltime_pack(&timeline, rows);
    const uint8_t none = (uint8_t)(2 * timeline.boxes[0].none);
    const uint8_t boxes[] = {4, /* boxes */
                             1 | 16,
                             0xe8,
                             7,
                             0xe8,
                             7,
                             none, /* gap, context */
                             0xc7,
                             1, /* -1 ms: the CPU time is larger */
                             1 | 2 | 4 | 8,
                             0xb8,
                             0x17, /* gap, wall, samples, stopped */
                             0xd0,
                             0x0f,
                             0xcf,
                             0x0f,
                             2,
                             1, /* 20 ms, -10 ms, 2, 1 */
                             0xd0,
                             0x0f, /* 10 ms */
                             16,
                             0xe8,
                             7,
                             none,
                             0, /* context */
                             16,
                             0xe8,
                             7,
                             3,
                             0, /* one span back */
                             0};

    expect_bytes(&packed.boxes, boxes, sizeof(boxes));
    cr_expect_eq(packed.box_count, 4);
    cr_expect_eq(packed.span_count, 1);
    oteltime_packed_free(&packed);
    oteltime_timeline_free(&timeline);
}
