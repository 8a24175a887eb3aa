/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/key_map.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo/reader/payload/decode.h"
#include "tests/support/golden.h"

static struct otelctx_key_map keys, before;
static struct otelctx_payload payload;
static char many[OTELCTX_PAYLOAD_MAX + 1]; /* "xxx..." */

static void begin(void)
{
    memset(many, 'x', sizeof(many));
    (void)otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                              OTELCTX_SPAN("service.name"), OTELCTX_SPAN("ab"));
}

TestSuite(keys, .init = begin);

static int add(const char *name)
{
    return otelctx_key_map_add(&keys, otelctx_span_from(name));
}

static int find(const char *name)
{
    return otelctx_key_map_find(&keys, otelctx_span_from(name));
}

static int set_schema(const char *name)
{
    return otelctx_key_map_set_schema(&keys, otelctx_span_from(name));
}

static void remember(void)
{
    before = keys;
}

static bool unchanged(void)
{
    return memcmp(&keys, &before, sizeof(keys)) == 0;
}

/* The ProcessContext as it is published, in memory of its very size. */
static uint8_t *encode(size_t *size)
{
    const size_t head = otelctx_payload_size(&payload);
    uint8_t *bytes;

    *size = head + otelctx_key_map_size(&keys);
    bytes = malloc(*size);
    otelctx_payload_encode(&payload, bytes);
    otelctx_key_map_encode(&keys, bytes + head);
    return bytes;
}

static void expect_golden(const char *name)
{
    uint8_t expected[512];
    const size_t expected_size = golden_read(name, expected, sizeof(expected));
    size_t size;
    uint8_t *bytes = encode(&size);

    cr_expect_eq(size, expected_size, "%s: %zu bytes", name, size);
    cr_expect(size == expected_size && !memcmp(bytes, expected, size),
              "%s: other bytes", name);
    free(bytes);
}

Test(keys, that_are_not_there_yet_are_an_empty_map)
{
    expect_golden("payload_without_keys");
}

Test(keys, are_strings_of_an_array)
{
    cr_expect_eq(add("http.route"), 0);
    cr_expect_eq(add("user.n\u00e4me"), 1);
    expect_golden("payload_with_keys");
}

Test(keys, are_in_what_is_encoded_next)
{
    expect_golden("payload_without_keys");
    cr_expect_eq(add("http.route"), 0);
    cr_expect_eq(add("user.n\u00e4me"), 1);
    expect_golden("payload_with_keys");
}

Test(keys, of_a_go_program_have_no_map)
{
    cr_expect_eq(set_schema("go_pprof_labels_v1"), 0);
    expect_golden("payload_go_schema");
}

Test(keys, of_a_go_program_are_refused)
{
    cr_expect_eq(set_schema("go_pprof_labels_v1"), 0);
    remember();
    cr_expect_eq(add("http.route"), -EOPNOTSUPP);
    cr_expect(unchanged());
}

Test(keys, have_indexes_that_count_from_0)
{
    cr_expect_eq(otelctx_key_map_count(&keys), 0);
    cr_expect_eq(add("a"), 0);
    cr_expect_eq(add("b"), 1);
    cr_expect_eq(add("ab"), 2);
    cr_expect_eq(otelctx_key_map_count(&keys), 3);
    cr_expect_eq(find("a"), 0);
    cr_expect_eq(find("b"), 1);
    cr_expect_eq(find("ab"), 2);
}

Test(keys, are_found_by_their_exact_name)
{
    cr_expect_eq(find("http.route"), -ENOENT);
    cr_expect_eq(add("http.route"), 0);
    cr_expect_eq(find(""), -ENOENT);
    cr_expect_eq(find("http.rout"), -ENOENT);
    cr_expect_eq(find("http.routes"), -ENOENT);
    cr_expect_eq(find("HTTP.route"), -ENOENT);
}

Test(keys, are_text_that_is_not_empty)
{
    static const struct otelctx_span bad[] = {
        OTELCTX_SPAN_INIT(""),      OTELCTX_SPAN_INIT("\xff"),
        OTELCTX_SPAN_INIT("a\xc3"), OTELCTX_SPAN_INIT("\0"),
        OTELCTX_SPAN_INIT("a\0b"),  OTELCTX_SPAN_INIT("\xed\xa0\x80"),
    };

    cr_expect_eq(add("a"), 0);
    remember();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_expect_eq(otelctx_key_map_add(&keys, bad[i]), -EINVAL, "row %zu", i);
    cr_expect(unchanged());
}

/* "key.0", "key.1"... up to, but without, `end`. */
static void add_up_to(int end)
{
    char name[16];

    for (int i = (int)otelctx_key_map_count(&keys); i < end; i++) {
        (void)snprintf(name, sizeof(name), "key.%d", i);
        cr_assert_eq(add(name), i);
    }
}

Test(keys, are_at_most_256)
{
    add_up_to(256);
    remember();
    cr_expect_eq(add("key.256"), -ENOSPC);
    cr_expect(unchanged());
    cr_expect_eq(find("key.256"), -ENOENT);
    cr_expect_eq(find("key.0"), 0);
    cr_expect_eq(find("key.255"), 255);
    cr_expect_eq(otelctx_key_map_count(&keys), 256);
}

/* The name of a key, as the reader decodes it. */
static void expect_name(const struct otelread_node *node, int index)
{
    char name[16];
    const int size = snprintf(name, sizeof(name), "key.%d", index);

    cr_assert(node, "key %d is not there", index);
    cr_assert_eq(node->kind, OTELREAD_STRING);
    cr_expect(node->span.size == (size_t)size &&
                  !memcmp(node->span.bytes, name, (size_t)size),
              "key %d is %.*s", index, (int)node->span.size,
              (const char *)node->span.bytes);
}

Test(keys, are_read_in_the_order_of_their_indexes)
{
    struct otelread_decoded decoded;
    struct otelread_fault fault;
    const struct otelread_node *map, *node;
    uint8_t *bytes;
    size_t size;

    add_up_to(256);
    bytes = encode(&size);
    cr_assert_eq(otelread_decode(bytes, size, &decoded, &fault), 0);
    cr_assert_eq(decoded.extra.count, 2);
    map = decoded.extra.last;
    cr_assert_eq(map->kind, OTELREAD_ARRAY);
    node = map->list.first;
    for (int index = 0; index < 256; index++, node = node->next)
        expect_name(node, index);
    cr_expect_null(node);
    otelread_decoded_free(&decoded);
    free(bytes);
}

/* Rule: OTEP 4947, "attribute_key_map dictionary semantics". */
Test(keys, are_appended_and_change_nothing_before_them)
{
    for (int count = 1; count <= 256; count++) {
        remember();
        add_up_to(count);
        cr_expect_eq(memcmp(keys.bytes, before.bytes, before.used & UINT32_MAX),
                     0, "key %d", count);
        cr_expect_eq(keys.schema_size, before.schema_size);
    }
}

Test(keys, may_take_as_much_room_as_there_is)
{
    struct otelctx_span name = {many, sizeof(many)};

    remember();
    while (otelctx_key_map_add(&keys, name) == -ENOSPC) {
        cr_assert(unchanged(), "a refusal of %zu bytes left a trace",
                  name.size);
        name.size--;
    }
    /* Heads of two fields, with lengths of three bytes each. */
    cr_expect_eq(name.size, OTELCTX_PAYLOAD_MAX - 2 * 4);
    remember();
    cr_expect_eq(add("a"), -ENOSPC);
    cr_expect(unchanged());
}

Test(keys, are_of_the_default_schema_unless_another_one_is_set)
{
    const size_t default_size = otelctx_key_map_size(&keys);

    cr_expect_eq(set_schema("tls_v1"), 0);
    cr_expect_eq(otelctx_key_map_size(&keys),
                 default_size - strlen("tlsdesc_v1_dev") + strlen("tls_v1"));
    cr_expect_eq(add("http.route"), 0);
    cr_expect_eq(set_schema("tlsdesc_v1_dev"), 0);
    cr_expect_eq(add("user.n\u00e4me"), 1);
    expect_golden("payload_with_keys");
}

Test(keys, have_a_schema_whose_name_has_at_most_127_bytes)
{
    const size_t default_size = otelctx_key_map_size(&keys);

    remember();
    cr_expect_eq(
        otelctx_key_map_set_schema(&keys, (struct otelctx_span){many, 128}),
        -ENOSPC);
    cr_expect(unchanged());
    cr_expect_eq(
        otelctx_key_map_set_schema(&keys, (struct otelctx_span){many, 127}), 0);
    /* 113 bytes more, and two lengths of two bytes instead of one. */
    cr_expect_eq(otelctx_key_map_size(&keys), default_size + 113 + 2);
}

Test(keys, are_written_no_further_than_they_are_counted)
{
    static uint8_t out[512];
    const int end = 8;

    add_up_to(end);
    memset(out, 0xaa, sizeof(out));
    otelctx_key_map_encode(&keys, out);
    for (size_t i = otelctx_key_map_size(&keys); i < sizeof(out); i++)
        cr_expect_eq(out[i], 0xaa);
}

Test(keys, when_hidden_nothing_is_said_until_a_schema_is_set)
{
    otelctx_key_map_hide(&keys);
    cr_expect_eq(otelctx_key_map_size(&keys), 0);
    cr_expect_eq(add("a"), -EOPNOTSUPP);
    cr_assert_eq(set_schema("tls_v1"), 0);
    cr_expect_gt(otelctx_key_map_size(&keys), 0);
    cr_expect_eq(add("a"), 0);
}
