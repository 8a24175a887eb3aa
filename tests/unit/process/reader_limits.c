/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/reader_limits.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct otelctx_payload payload;
static char many[OTELCTX_PAYLOAD_MAX]; /* "xxx..." */

static const char string_too_long[] =
    "a key or value is longer than 4096 bytes";
static const char too_many[] = "there are more than 100 attributes";
static const char resource_too_long[] =
    "the resource is longer than 16383 bytes";

static void fill(void)
{
    memset(many, 'x', sizeof(many));
}

TestSuite(reader_limits, .init = fill);

/* Sizes of a key and of its value, all of them "x". */
static void set(enum otelctx_place place, size_t key, size_t value)
{
    cr_assert_eq(otelctx_payload_set(&payload, place,
                                     (struct otelctx_span){many, key},
                                     (struct otelctx_span){many, value}),
                 0);
}

static void expect(const char *limit)
{
    const char *exceeded = otelctx_reader_limits_exceeded(&payload);

    if (limit)
        cr_expect_str_eq(exceeded ? exceeded : "none", limit);
    else
        cr_expect_null(exceeded, "%s", exceeded);
}

Test(reader_limits, are_kept_by_a_payload_without_attributes)
{
    expect(NULL);
}

Test(reader_limits, allow_values_of_4096_bytes)
{
    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        set(place, 1, 4096);
        expect(NULL);
        set(place, 1, 4097);
        expect(string_too_long);
        payload = (struct otelctx_payload){0};
    }
}

Test(reader_limits, allow_keys_of_4096_bytes)
{
    for (unsigned place = OTELCTX_RESOURCE; place <= OTELCTX_EXTRA; place++) {
        set(place, 4096, 1);
        expect(NULL);
        set(place, 4097, 1);
        expect(string_too_long);
        payload = (struct otelctx_payload){0};
    }
}

Test(reader_limits, are_those_of_the_last_attribute_as_well)
{
    set(OTELCTX_RESOURCE, 1, 1);
    set(OTELCTX_RESOURCE, 2, 200);
    set(OTELCTX_EXTRA, 1, 200);
    set(OTELCTX_EXTRA, 2, 4097);
    expect(string_too_long);
}

Test(reader_limits, allow_100_resource_attributes)
{
    for (size_t size = 1; size <= 100; size++)
        set(OTELCTX_RESOURCE, size, 1);
    expect(NULL);
    set(OTELCTX_RESOURCE, 101, 1);
    expect(too_many);
}

Test(reader_limits, allow_98_extra_attributes_and_two_about_threads)
{
    for (size_t size = 1; size <= 98; size++)
        set(OTELCTX_EXTRA, size, 1);
    expect(NULL);
    set(OTELCTX_EXTRA, 99, 1);
    expect(too_many);
}

Test(reader_limits, count_each_place_by_itself)
{
    for (size_t size = 1; size <= 98; size++) {
        set(OTELCTX_RESOURCE, size, 1);
        set(OTELCTX_EXTRA, size, 1);
    }
    expect(NULL);
}

Test(reader_limits, allow_a_resource_of_16383_bytes)
{
    for (size_t size = 1; size <= 3; size++)
        set(OTELCTX_RESOURCE, size, 4090);
    set(OTELCTX_RESOURCE, 4, 4059);
    cr_assert_eq(payload.size[OTELCTX_RESOURCE], 16383);
    expect(NULL);
    set(OTELCTX_RESOURCE, 4, 4060);
    cr_assert_eq(payload.size[OTELCTX_RESOURCE], 16384);
    expect(resource_too_long);
}

Test(reader_limits, allow_longer_extra_attributes)
{
    for (size_t size = 1; size <= 10; size++)
        set(OTELCTX_EXTRA, size, 4096);
    cr_assert_gt(payload.size[OTELCTX_EXTRA], 16383);
    expect(NULL);
}

static struct otelctx_key_map keys;

/* Adds keys of a size, each another one. */
static void add_keys(unsigned count, size_t size)
{
    static unsigned number;

    for (unsigned i = 0; i < count; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%06u", number++);
        memcpy(many, name, 6);
        cr_assert_geq(
            otelctx_key_map_add(&keys, (struct otelctx_span){many, size}), 0);
    }
}

static void expect_of_keys(const char *limit)
{
    const char *exceeded = otelctx_reader_limits_of_keys(&keys);

    cr_expect_str_eq(exceeded ? exceeded : "none", limit ? limit : "none");
}

Test(reader_limits, allow_100_keys)
{
    add_keys(100, 6);
    expect_of_keys(NULL);
    add_keys(1, 6);
    expect_of_keys("there are more than 100");
}

/* A key in the map has two heads: each a tag, and a size that takes two bytes
 * up to 16383. */
Test(reader_limits, allow_a_map_of_16383_bytes)
{
    enum {
        HEADS = 3 + 3
    };

    add_keys(1, 16383 - HEADS);
    expect_of_keys(NULL);
    memset(&keys, 0, sizeof(keys));
    add_keys(1, 16383 - HEADS + 1);
    expect_of_keys("their map is longer than 16383 bytes");
}
