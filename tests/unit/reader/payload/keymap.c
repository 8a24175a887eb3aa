/* SPDX-License-Identifier: Apache-2.0 */

/* OTEP 4947, "Process Context: Thread-Local Reference Data". */
#include "demo/reader/payload/keymap.h"
#include "demo/reader/payload/decode.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* Extra attributes of a process context, as protobuf. */
#define SCHEMA_DEV                                                             \
    "\x12\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a\x0etlsdesc_v1_dev"
#define SCHEMA_V1                                                              \
    "\x12\x26\x0a\x1athreadlocal.schema_version\x12\x08\x0a\x06tls_v1"
#define SCHEMA_GO                                                              \
    "\x12\x32\x0a\x1athreadlocal.schema_version\x12\x14\x0a\x12go_pprof_"      \
    "labels_v1"
#define SCHEMA_42 "\x12\x20\x0a\x1athreadlocal.schema_version\x12\x02\x18\x2a"

/* The keys "a", "b" and 5; none; a string instead of an array. */
#define MAP_AB                                                                 \
    "\x12\x31\x0a\x1dthreadlocal.attribute_key_map\x12\x10\x2a\x0e\x0a\x03"    \
    "\x0a\x01"                                                                 \
    "a\x0a\x03\x0a\x01"                                                        \
    "b\x0a\x02\x18\x05"
#define MAP_NONE "\x12\x23\x0a\x1dthreadlocal.attribute_key_map\x12\x02\x2a\x00"
#define MAP_TEXT                                                               \
    "\x12\x24\x0a\x1dthreadlocal.attribute_key_map\x12\x03\x0a\x01"            \
    "a"

static struct otelread_decoded decoded;
static struct otelread_keymap map;
static char why[256];

static void free_decoded(void)
{
    otelread_decoded_free(&decoded);
}

TestSuite(reader_keymap, .fini = free_decoded);

static int read_map(const char *payload, size_t size)
{
    struct otelread_fault fault;

    otelread_decoded_free(&decoded);
    cr_assert_eq(
        otelread_decode((const uint8_t *)payload, size, &decoded, &fault), 0,
        "byte %zu: %s", fault.offset, fault.why);
    return otelread_keymap_read(&decoded.extra, &map, why, sizeof(why));
}

#define READ(payload) read_map((payload), sizeof(payload) - 1)

static bool span_is(struct otelread_span span, const char *text)
{
    return span.size == strlen(text) &&
           memcmp(span.bytes, text, span.size) == 0;
}

Test(reader_keymap, a_key_has_its_position_as_its_index)
{
    cr_expect_eq(READ(SCHEMA_DEV MAP_AB), 0);
    cr_expect(span_is(map.schema, "tlsdesc_v1_dev"));
    cr_assert_eq(map.count, 3);
    cr_expect(span_is(map.keys[0], "a"));
    cr_expect(span_is(map.keys[1], "b"));
    cr_expect_str_empty(why);
}

Test(reader_keymap, a_key_that_is_no_string_keeps_its_index_and_has_no_name)
{
    cr_expect_eq(READ(SCHEMA_DEV MAP_AB), 0);
    cr_expect_null(map.keys[2].bytes);
}

Test(reader_keymap, an_empty_map_is_a_map)
{
    cr_expect_eq(READ(MAP_NONE SCHEMA_DEV), 0);
    cr_expect_eq(map.count, 0);
}

Test(reader_keymap, the_schema_of_the_final_otep_is_read_as_well)
{
    cr_expect_eq(READ(SCHEMA_V1 MAP_AB), 0);
    cr_expect_eq(map.count, 3);
}

Test(reader_keymap, threads_are_announced_only_with_both_attributes)
{
    cr_expect_eq(READ(""), -ENOENT);
    cr_expect_str_eq(why, "there is no threadlocal.schema_version in its "
                          "process context");
    cr_expect_eq(READ(MAP_AB), -ENOENT);
    cr_expect_eq(READ(SCHEMA_DEV), -ENOENT);
    cr_expect_str_eq(why, "there is no threadlocal.attribute_key_map in its "
                          "process context");
}

Test(reader_keymap, an_attribute_of_the_resource_announces_nothing)
{
    /* The same two attributes, in field 1. */
    cr_expect_eq(READ("\x0a\x61"
                      "\x0a\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a"
                      "\x0etlsdesc_v1_dev"
                      "\x0a\x2f\x0a\x1dthreadlocal.attribute_key_map\x12\x0e"
                      "\x2a\x0c\x0a\x03\x0a\x01"
                      "a\x0a\x03\x0a\x01"
                      "b\x0a\x00"),
                 -ENOENT);
    cr_expect_eq(decoded.resource.count, 2);
}

Test(reader_keymap, an_unknown_schema_is_named_and_needs_no_map)
{
    cr_expect_eq(READ(SCHEMA_GO), -EPROTONOSUPPORT);
    cr_expect(strstr(why, "\"go_pprof_labels_v1\""), "%s", why);
    cr_expect(span_is(map.schema, "go_pprof_labels_v1"));
    cr_expect_eq(READ(SCHEMA_GO MAP_AB), -EPROTONOSUPPORT);
    cr_expect_eq(map.count, 0);
}

Test(reader_keymap, a_schema_is_compared_by_its_whole_name)
{
    cr_expect_eq(READ("\x12\x27\x0a\x1athreadlocal.schema_version\x12\x09\x0a"
                      "\x07tls_v1x" MAP_AB),
                 -EPROTONOSUPPORT);
    cr_expect_eq(READ("\x12\x25\x0a\x1athreadlocal.schema_version\x12\x07\x0a"
                      "\x05tls_v" MAP_AB),
                 -EPROTONOSUPPORT);
}

Test(reader_keymap, a_schema_cannot_control_the_terminal)
{
    cr_expect_eq(READ("\x12\x23\x0a\x1athreadlocal.schema_version\x12\x05\x0a"
                      "\x03\x1b[m"),
                 -EPROTONOSUPPORT);
    cr_expect(strstr(why, "\"\\x1b[m\""), "%s", why);
}

Test(reader_keymap, values_of_other_types_are_faults)
{
    cr_expect_eq(READ(SCHEMA_42 MAP_AB), -EBADMSG);
    cr_expect_str_eq(why, "threadlocal.schema_version is no string");
    cr_expect_eq(READ(SCHEMA_DEV MAP_TEXT), -EBADMSG);
    cr_expect_str_eq(why, "threadlocal.attribute_key_map is no array");
}

Test(reader_keymap, of_equal_keys_the_last_counts)
{
    cr_expect_eq(READ(MAP_AB SCHEMA_GO MAP_NONE SCHEMA_DEV), 0);
    cr_expect_eq(map.count, 0);
}

Test(reader_keymap, a_map_has_256_keys_at_most)
{
    /* 257 times an empty value, each 0a 00. */
    static const char start[] =
        SCHEMA_DEV "\x12\xa7\x04\x0a\x1dthreadlocal.attribute_key_map"
                   "\x12\x85\x04\x2a\x82\x04";
    static char payload[sizeof(start) - 1 + sizeof(uint16_t[257])];

    memcpy(payload, start, sizeof(start) - 1);
    for (size_t at = sizeof(start) - 1; at < sizeof(payload); at += 2)
        payload[at] = '\x0a';
    cr_expect_eq(read_map(payload, sizeof(payload)), 0);
    cr_expect_eq(map.count, 256);
}
