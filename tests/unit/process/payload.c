/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/payload.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/golden.h"
#include "tests/support/payload_model.h"

static struct otelctx_payload payload, other;
static char many[OTELCTX_PAYLOAD_MAX + 1]; /* "xxx..." */

static void fill(void)
{
    memset(many, 'x', sizeof(many));
}

TestSuite(payload, .init = fill);

static int set_in(enum otelctx_place place, const char *key, const char *value)
{
    return otelctx_payload_set(&payload, place, otelctx_span_from(key),
                               otelctx_span_from(value));
}

static int set(const char *key, const char *value)
{
    return set_in(OTELCTX_RESOURCE, key, value);
}

static int set_extra(const char *key, const char *value)
{
    return set_in(OTELCTX_EXTRA, key, value);
}

/* A value of size times "x". */
static int set_many(enum otelctx_place place, const char *key, size_t size)
{
    return otelctx_payload_set(&payload, place, otelctx_span_from(key),
                               (struct otelctx_span){many, size});
}

static int unset(enum otelctx_place place, const char *key)
{
    return otelctx_payload_set(&payload, place, otelctx_span_from(key),
                               (struct otelctx_span){0});
}

static bool has(enum otelctx_place place, const char *key)
{
    return otelctx_payload_has(&payload, place, otelctx_span_from(key));
}

/* The payload in memory of its very size; to be freed. */
static uint8_t *encode(size_t *size)
{
    uint8_t *bytes;

    *size = otelctx_payload_size(&payload);
    bytes = malloc(*size);
    otelctx_payload_encode(&payload, bytes);
    return bytes;
}

static void expect_golden(const char *name)
{
    static uint8_t expected[OTELCTX_PAYLOAD_MAX];
    const size_t expected_size = golden_read(name, expected, sizeof(expected));
    size_t size;
    uint8_t *bytes = encode(&size);

    cr_expect_eq(size, expected_size, "%s: %zu bytes", name, size);
    cr_expect(size == expected_size && !memcmp(bytes, expected, size),
              "%s: other bytes", name);
    free(bytes);
}

static void expect_bytes(struct otelctx_span expected)
{
    size_t size;
    uint8_t *bytes = encode(&size);

    cr_expect(otelctx_span_equal(
        (struct otelctx_span){(const char *)bytes, size}, expected));
    free(bytes);
}

static bool unchanged(void)
{
    return payload.size[0] == other.size[0] &&
           payload.size[1] == other.size[1] &&
           !memcmp(payload.bytes, other.bytes,
                   payload.size[0] + payload.size[1]);
}

/* What protoc, which knows nothing of us, makes of the payload. */
static void expect_protoc(const char *expected)
{
    static char said[65536];
    char path[] = "/tmp/otelctx-payload-XXXXXX", command[1024];
    size_t size, said_size;
    uint8_t *bytes = encode(&size);
    const int fd = mkstemp(path);
    FILE *protoc;

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    (void)close(fd);
    free(bytes);
    (void)snprintf(command, sizeof(command),
                   "protoc --decode=opentelemetry.proto.processcontext."
                   "v1development.ProcessContext -I '%s' "
                   "process_context.proto <%s",
                   OTELCTX_TESTS_DIR "/support/proto", path);
    protoc = popen(command, "r");
    cr_assert(protoc);
    said_size = fread(said, 1, sizeof(said) - 1, protoc);
    said[said_size] = '\0';
    (void)unlink(path);
    cr_assert_eq(pclose(protoc), 0, "protoc failed or is not there");
    cr_expect_str_eq(said, expected);
}

Test(payload, without_attributes_has_an_empty_resource)
{
    expect_golden("payload_empty");
}

Test(payload, has_the_resource_first_and_the_extra_attributes_behind)
{
    cr_expect_eq(set("service.name", "shop"), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    cr_expect_eq(set("host.id", ""), 0);
    expect_golden("payload_both_places");
}

Test(payload, may_have_extra_attributes_only)
{
    cr_expect_eq(set_extra("\u00e9", "1"), 0);
    expect_golden("payload_extra_only");
}

Test(payload, has_lengths_of_one_two_and_three_bytes)
{
    cr_expect_eq(set_many(OTELCTX_RESOURCE, "a", 126), 0);
    cr_expect_eq(set_many(OTELCTX_RESOURCE, "b", 128), 0);
    cr_expect_eq(set_many(OTELCTX_RESOURCE, "c", 16270), 0);
    expect_golden("payload_long_value");
}

Test(payload, an_empty_value_is_a_string_all_the_same)
{
    cr_expect_eq(set("k", ""), 0);
    expect_bytes(OTELCTX_SPAN("\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x0a\x00"));
    cr_expect_eq(set("k", ""), 0);
    expect_bytes(OTELCTX_SPAN("\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x0a\x00"));
}

Test(payload, decodes_with_protoc)
{
    cr_expect_eq(set("service.name", "shop \"1\""), 0);
    cr_expect_eq(set("host.id", ""), 0);
    cr_expect_eq(set("\u00fc", "\U0001f408"), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    cr_expect_eq(set_extra("empty", ""), 0);
    expect_protoc("resource {\n"
                  "  attributes {\n"
                  "    key: \"service.name\"\n"
                  "    value {\n"
                  "      string_value: \"shop \\\"1\\\"\"\n"
                  "    }\n"
                  "  }\n"
                  "  attributes {\n"
                  "    key: \"host.id\"\n"
                  "    value {\n"
                  "      string_value: \"\"\n"
                  "    }\n"
                  "  }\n"
                  "  attributes {\n"
                  "    key: \"\\303\\274\"\n"
                  "    value {\n"
                  "      string_value: \"\\360\\237\\220\\210\"\n"
                  "    }\n"
                  "  }\n"
                  "}\n"
                  "extra_attributes {\n"
                  "  key: \"build\"\n"
                  "  value {\n"
                  "    string_value: \"7f\"\n"
                  "  }\n"
                  "}\n"
                  "extra_attributes {\n"
                  "  key: \"empty\"\n"
                  "  value {\n"
                  "    string_value: \"\"\n"
                  "  }\n"
                  "}\n");
}

Test(payload, without_attributes_decodes_with_protoc)
{
    expect_protoc("resource {\n"
                  "}\n");
}

Test(payload, a_key_set_again_keeps_its_place_and_is_there_once)
{
    cr_expect_eq(set("service.name", "old shop"), 0);
    cr_expect_eq(set("host.id", ""), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    cr_expect_eq(set("service.name", "shop"), 0);
    expect_golden("payload_both_places");
}

Test(payload, a_key_set_to_the_same_value_changes_no_byte)
{
    cr_expect_eq(set("a", "1"), 0);
    otelctx_payload_copy(&other, &payload);
    cr_expect_eq(set("a", "1"), 0);
    cr_expect(unchanged());
}

Test(payload, a_key_may_be_in_both_places)
{
    cr_expect_eq(set("k", "1"), 0);
    cr_expect_eq(set_extra("k", "2"), 0);
    expect_bytes(OTELCTX_SPAN("\x0a\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01"
                              "1\x12\x08\x0a\x01k\x12\x03\x0a\x01"
                              "2"));
    unset(OTELCTX_RESOURCE, "k");
    cr_expect_not(has(OTELCTX_RESOURCE, "k"));
    cr_expect(has(OTELCTX_EXTRA, "k"));
}

Test(payload, unset_removes_that_key_only)
{
    cr_expect_eq(set("service.name", "shop"), 0);
    cr_expect_eq(set("a", "1"), 0);
    cr_expect_eq(set("host.id", ""), 0);
    cr_expect_eq(set_extra("b", "2"), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    unset(OTELCTX_RESOURCE, "a");
    unset(OTELCTX_EXTRA, "b");
    expect_golden("payload_both_places");
}

Test(payload, unset_of_what_is_not_there_changes_nothing)
{
    unset(OTELCTX_RESOURCE, "a");
    cr_expect_eq(set("ab", "1"), 0);
    otelctx_payload_copy(&other, &payload);
    unset(OTELCTX_RESOURCE, "a");
    unset(OTELCTX_RESOURCE, "abc");
    cr_expect_eq(unset(OTELCTX_EXTRA, "ab"), 0);
    cr_expect_eq(unset(OTELCTX_RESOURCE, ""), -EINVAL);
    cr_expect_eq(unset(OTELCTX_EXTRA, "threadlocal.a"), -EPERM);
    cr_expect_eq(otelctx_payload_set(
                     &payload, OTELCTX_RESOURCE,
                     (struct otelctx_span){many, OTELCTX_PAYLOAD_MAX + 1},
                     (struct otelctx_span){0}),
                 0, "to remove takes no room");
    cr_expect(unchanged());
}

Test(payload, a_value_of_another_length_is_as_if_it_had_been_the_first)
{
    for (size_t before = 4; before <= 140; before++)
        for (size_t after = before - 4; after <= before + 4; after++) {
            (void)unset(OTELCTX_RESOURCE, "k");
            cr_expect_eq(set_many(OTELCTX_RESOURCE, "k", after), 0);
            otelctx_payload_copy(&other, &payload);
            (void)unset(OTELCTX_RESOURCE, "k");
            cr_expect_eq(set_many(OTELCTX_RESOURCE, "k", before), 0);
            cr_expect_eq(set_many(OTELCTX_RESOURCE, "k", after), 0);
            cr_expect(unchanged(), "%zu, then %zu bytes", before, after);
        }
}

Test(payload, has_what_was_set)
{
    cr_expect_not(has(OTELCTX_RESOURCE, "a"));
    cr_expect_eq(set("a", ""), 0);
    cr_expect(has(OTELCTX_RESOURCE, "a"));
    cr_expect_not(has(OTELCTX_EXTRA, "a"));
    cr_expect_not(has(OTELCTX_RESOURCE, "A"));
    cr_expect_not(has(OTELCTX_RESOURCE, ""));
}

Test(payload, refuses_what_is_no_text)
{
    static const struct otelctx_span bad[] = {
        OTELCTX_SPAN_INIT("\xff"),     OTELCTX_SPAN_INIT("a\xc3"),
        OTELCTX_SPAN_INIT("\0"),       OTELCTX_SPAN_INIT("a\0b"),
        OTELCTX_SPAN_INIT("\xc0\x80"), OTELCTX_SPAN_INIT("\xed\xa0\x80"),
    };

    cr_expect_eq(set("a", "1"), 0);
    otelctx_payload_copy(&other, &payload);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE, bad[i],
                                         OTELCTX_SPAN("1")),
                     -EINVAL, "row %zu as a key", i);
        cr_expect_eq(otelctx_payload_set(&payload, OTELCTX_EXTRA,
                                         OTELCTX_SPAN("a"), bad[i]),
                     -EINVAL, "row %zu as a value", i);
    }
    cr_expect_eq(set("", "1"), -EINVAL);
    cr_expect_eq(set_extra("", ""), -EINVAL);
    cr_expect(unchanged());
}

Test(payload, refuses_the_keys_of_the_thread_context)
{
    otelctx_payload_copy(&other, &payload);
    cr_expect_eq(set("threadlocal.schema_version", "x"), -EPERM);
    cr_expect_eq(set_extra("threadlocal.attribute_key_map", "x"), -EPERM);
    cr_expect_eq(set("threadlocal.", ""), -EPERM);
    cr_expect(unchanged());
    cr_expect_eq(set("threadlocal", "x"), 0);
    cr_expect_eq(set("threadlocalx", "x"), 0);
    cr_expect_eq(set("threadlocal_.", "x"), 0);
    cr_expect_eq(set("Threadlocal.a", "x"), 0);
    cr_expect_eq(set_extra("xthreadlocal.a", "x"), 0);
}

/* The greatest value of a key that is taken, with nothing else changed. */
static size_t greatest_value(enum otelctx_place place, const char *key)
{
    size_t size = sizeof(many);

    while (size > 0 && set_many(place, key, size) == -ENOSPC) {
        cr_assert(unchanged(), "a refusal of %zu bytes left a trace", size);
        size--;
    }
    return size;
}

Test(payload, may_have_65536_bytes_and_not_one_more)
{
    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        size_t size;

        payload = (struct otelctx_payload){0};
        otelctx_payload_copy(&other, &payload);
        size = greatest_value(place, "k");
        cr_expect_eq(otelctx_payload_size(&payload), 65536);

        otelctx_payload_copy(&other, &payload);
        cr_expect_eq(set_many(place, "k", size + 1), -ENOSPC);
        cr_expect_eq(set_many(place, "l", 0), -ENOSPC);
        cr_expect_eq(set_many(!place, "k", 0), -ENOSPC);
        cr_expect(unchanged());
        cr_expect_eq(set_many(place, "k", size), 0);
        cr_expect(unchanged());
    }
}

Test(payload, may_be_filled_up_behind_other_attributes)
{
    cr_expect_eq(set("service.name", "shop"), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    otelctx_payload_copy(&other, &payload);
    (void)greatest_value(OTELCTX_RESOURCE, "k");
    cr_expect_eq(otelctx_payload_size(&payload), 65536);
    cr_expect(has(OTELCTX_RESOURCE, "service.name"));
    cr_expect(has(OTELCTX_EXTRA, "build"));
}

Test(payload, when_full_still_takes_a_shorter_value_of_a_key)
{
    cr_expect_eq(set("a", "12"), 0);
    otelctx_payload_copy(&other, &payload);
    (void)greatest_value(OTELCTX_EXTRA, "k");
    cr_expect_eq(set("a", "1"), 0);
    cr_expect_eq(otelctx_payload_size(&payload), 65535);
    cr_expect_eq(set("a", "123"), -ENOSPC);
    cr_expect_eq(set("a", "21"), 0);
    cr_expect_eq(otelctx_payload_size(&payload), 65536);
}

Test(payload, leaves_the_room_that_is_reserved_for_others)
{
    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        size_t size;

        payload.reserved = 100;
        otelctx_payload_copy(&other, &payload);
        size = greatest_value(place, "k");
        cr_expect_eq(otelctx_payload_size(&payload), 65536 - 100);
        cr_expect_eq(set_many(place, "k", size + 1), -ENOSPC);
        payload.reserved--;
        cr_expect_eq(set_many(place, "k", size + 1), 0);
        cr_expect_eq(otelctx_payload_size(&payload), 65536 - 99);
        unset(place, "k");
    }
}

Test(payload, refuses_a_size_that_would_overflow)
{
    otelctx_payload_copy(&other, &payload);
    cr_expect_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     (struct otelctx_span){many, sizeof(many)},
                                     OTELCTX_SPAN("")),
                 -ENOSPC);
    cr_expect_eq(set_many(OTELCTX_EXTRA, "k", OTELCTX_PAYLOAD_MAX), -ENOSPC);
    cr_expect(unchanged());
}

Test(payload, attributes_are_taken_in_their_order)
{
    static const size_t sizes[] = {0, 1, 120, 130, 17000};

    for (size_t i = 0; i < 5; i++)
        for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++)
            (void)otelctx_payload_set(&payload, place,
                                      (struct otelctx_span){many, i + 1},
                                      (struct otelctx_span){many, sizes[i]});
    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        struct otelctx_span value, rest;

        rest = otelctx_payload_attributes(&payload, place);
        for (size_t i = 0; i < 5; i++) {
            cr_expect_eq(otelctx_payload_take(&rest, &value).size, i + 1);
            cr_expect_eq(value.size, sizes[i]);
        }
        cr_expect_eq(rest.size, 0);
    }
}

Test(payload, a_copy_encodes_to_the_same_bytes)
{
    cr_expect_eq(set("service.name", "shop"), 0);
    cr_expect_eq(set("host.id", ""), 0);
    cr_expect_eq(set_extra("build", "7f"), 0);
    memset(&other, 0xaa, sizeof(other));
    otelctx_payload_copy(&other, &payload);
    cr_expect(unchanged());
    cr_expect_eq(other.bytes[other.size[0] + other.size[1]], 0xaa,
                 "more was copied than is set");
    otelctx_payload_copy(&payload, &other);
    expect_golden("payload_both_places");
}

/* Text out of a stock that has characters of every size in it. */
static struct otelctx_span draw(unsigned *seed, size_t max)
{
    static const char unit[] = "ab\u00e9c\u20acd\U0001f408";
    static char stock[40000];
    size_t from, size;

    for (size_t i = 0; stock[sizeof(stock) - 1] == 0 && i < sizeof(stock); i++)
        stock[i] = unit[i % (sizeof(unit) - 1)];
    from = (size_t)rand_r(seed) % 64;
    size = (size_t)rand_r(seed) % (max + 1);
    return (struct otelctx_span){stock + from, size};
}

/* One random change, to the payload and to the model. */
static void change(struct model *m, unsigned *seed)
{
    static const struct otelctx_span keys[] = {
        OTELCTX_SPAN_INIT("a"),
        OTELCTX_SPAN_INIT("b"),
        OTELCTX_SPAN_INIT("service.name"),
        OTELCTX_SPAN_INIT("host.id"),
        OTELCTX_SPAN_INIT("aa"),
        OTELCTX_SPAN_INIT("\u00e9"),
        OTELCTX_SPAN_INIT("threadlocal"),
        OTELCTX_SPAN_INIT("threadlocal.a"),
        OTELCTX_SPAN_INIT(""),
    };
    static const size_t sizes[] = {0, 8, 130, 300, 17000, 39900};
    const size_t count = sizeof(keys) / sizeof(keys[0]);
    const unsigned place = (unsigned)rand_r(seed) % 2;
    const size_t pick = (size_t)rand_r(seed) % (count + 3);
    const struct otelctx_span key = pick < count ? keys[pick] : draw(seed, 150);
    const struct otelctx_span value =
        draw(seed, sizes[(size_t)rand_r(seed) % 6]);

    switch (rand_r(seed) % 16) {
    case 0:
        model_clear(&payload, m, place);
        break;
    case 1:
    case 2:
    case 3:
        otelctx_payload_set(&payload, place, key, (struct otelctx_span){0});
        model_unset(&m->places[place], key);
        break;
    default:
        cr_assert_eq(otelctx_payload_set(&payload, place, key, value),
                     model_set(m, place, key, value));
    }
    cr_assert_eq(otelctx_payload_has(&payload, place, key),
                 model_find(&m->places[place], key) < m->places[place].count);
}

Test(payload, always_decodes_to_what_went_in)
{
    static struct model model;
    unsigned seed = 4719;

    for (unsigned i = 0; i < 10000; i++) {
        change(&model, &seed);
        cr_assert(model_is_encoded(&model, &payload), "after change %u", i);
    }
}
