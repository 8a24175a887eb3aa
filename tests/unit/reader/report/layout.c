/* SPDX-License-Identifier: Apache-2.0 */

/* Headers as publishers wrote them, byte for byte, on little-endian machines.
 */
#include "demo/reader/report/layout.h"

#include <criterion/criterion.h>
#include <string.h>

static struct otelctx_header header;
static struct otelread_decoded decoded;
static struct otelread_fault fault;
static bool bare;

static enum otelread_layout read_header(const char *bytes)
{
    struct otelread_raw_header raw;

    memcpy(&raw, bytes, sizeof(raw));
    return otelread_layout_read(&raw, &header);
}

static void expect_fields(uint32_t size, uint64_t time, uint64_t payload)
{
    cr_expect_eq(header.payload_size, size, "%u", header.payload_size);
    cr_expect_eq(header.published_at_ns, time, "%lu",
                 (unsigned long)header.published_at_ns);
    cr_expect_eq(header.payload, payload, "%lx", (unsigned long)header.payload);
}

Test(reader_layout, the_accepted_format_has_boottime)
{
    cr_expect_eq(read_header("OTEL_CTX\x02\0\0\0\x94\0\0\0"
                             "\x66\x97\xf6\x96\xcf\0\0\0"
                             "\x20\xc0\x2e\xd0\xc7\x7f\0\0"),
                 OTELREAD_LAYOUT_ACCEPTED);
    expect_fields(148, 891590973286, 0x7fc7d02ec020);
}

/* ctx-sharing-demo's Java agent of February 2026. */
Test(reader_layout, the_draft_has_the_same_fields_and_realtime)
{
    cr_expect_eq(read_header("OTEL_CTX\x02\0\0\0\x09\x01\0\0"
                             "\x18\xae\xb8\xfd\x2b\xc6\x90\x18"
                             "\xc0\x72\x79\x44\x2f\x7b\0\0"),
                 OTELREAD_LAYOUT_DRAFT);
    expect_fields(265, 1770132545799237144, 0x7b2f447972c0);
}

/* The dump in the discussion of the OTEP, December 2025. */
Test(reader_layout, the_packed_format_has_the_time_before_the_size)
{
    cr_expect_eq(read_header("OTEL_CTX\x02\0\0\0\x0b\x68\x55\x47"
                             "\x70\x24\x7d\x18\x50\x01\0\0"
                             "\xa0\x82\x6d\x7e\x6a\x5f\0\0"),
                 OTELREAD_LAYOUT_PACKED);
    expect_fields(336, 1764606693650819083, 0x5f6a7e6d82a0);
}

Test(reader_layout, version_1_may_have_no_time)
{
    cr_expect_eq(read_header("OTEL_CTX\x01\0\0\0\x94\0\0\0"
                             "\x66\x97\xf6\x96\xcf\0\0\0"
                             "\x20\xc0\x2e\xd0\xc7\x7f\0\0"),
                 OTELREAD_LAYOUT_VERSION_1);
    expect_fields(148, 891590973286, 0x7fc7d02ec020);
    cr_expect_eq(read_header("OTEL_CTX\x01\0\0\0\x94\0\0\0"
                             "\x20\xc0\x2e\xd0\xc7\x7f\0\0"
                             "\0\0\0\0\0\0\0\0"),
                 OTELREAD_LAYOUT_FIRST);
    expect_fields(148, 0, 0x7fc7d02ec020);
}

Test(reader_layout, a_size_that_is_too_large_does_not_make_a_header_packed)
{
    cr_expect_eq(read_header("OTEL_CTX\x02\0\0\0\xff\xff\xff\xff"
                             "\x66\x97\xf6\x96\xcf\0\0\0"
                             "\x20\xc0\x2e\xd0\xc7\x7f\0\0"),
                 OTELREAD_LAYOUT_ACCEPTED);
    expect_fields(0xffffffff, 891590973286, 0x7fc7d02ec020);
}

#define CONTEXT "\x0a\x0d\x0a\x0b\x0a\x04name\x12\x03\x0a\x01v"
#define BARE    "\x0a\x0b\x0a\x04name\x12\x03\x0a\x01v"

static int decode(enum otelread_layout layout, const char *bytes)
{
    otelread_decoded_free(&decoded);
    return otelread_layout_decode(layout, (const uint8_t *)bytes, strlen(bytes),
                                  &decoded, &fault, &bare);
}

Test(reader_layout, a_bare_resource_is_accepted_in_older_formats_only)
{
    cr_expect_neq(decode(OTELREAD_LAYOUT_ACCEPTED, BARE), 0);
    for (int i = OTELREAD_LAYOUT_DRAFT; i <= OTELREAD_LAYOUT_VERSION_1; i++) {
        cr_expect_eq(decode((enum otelread_layout)i, BARE), 0, "%d", i);
        cr_expect(bare);
        cr_expect_eq(decoded.resource.count, 1);
        cr_expect_eq(decode((enum otelread_layout)i, CONTEXT), 0, "%d", i);
        cr_expect_not(bare);
        cr_expect_eq(decoded.resource.count, 1);
    }
}

/* "p..." reads as a number of an unknown field of another message. */
Test(reader_layout, a_key_that_looks_like_a_message_is_still_a_key)
{
    cr_assert_eq(
        decode(OTELREAD_LAYOUT_PACKED, "\x0a\x09\x0a\x02pq\x12\x03\x0a\x01v"),
        0);
    cr_expect(bare);
    cr_assert_eq(decoded.resource.count, 1);
    cr_expect_eq(decoded.resource.first->key.size, 2);
}

Test(reader_layout, a_payload_of_no_format_has_the_fault_of_a_process_context)
{
    cr_expect_neq(decode(OTELREAD_LAYOUT_PACKED, "\x0a\x02\x0a\x7f"), 0);
    cr_expect(strstr(fault.why, "length 127"), "%s", fault.why);
}

Test(reader_layout, each_format_has_a_name)
{
    cr_expect_str_eq(otelread_layout_name(OTELREAD_LAYOUT_ACCEPTED),
                     "accepted");
    cr_expect_str_eq(otelread_layout_name(OTELREAD_LAYOUT_DRAFT), "draft");
    cr_expect_str_eq(otelread_layout_name(OTELREAD_LAYOUT_PACKED), "packed");
    cr_expect_str_eq(otelread_layout_name(OTELREAD_LAYOUT_VERSION_1),
                     "version_1");
    cr_expect_str_eq(otelread_layout_name(OTELREAD_LAYOUT_FIRST),
                     "version_1_msgpack");
}
