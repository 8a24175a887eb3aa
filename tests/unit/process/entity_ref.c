/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/entity_ref.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct otelctx_payload payload;
static struct otelctx_fault fault;

/* Add the last entity of a text. */
static int add(const char *text)
{
    struct otelctx_span rest = otelctx_span_from(text);
    struct otelctx_entity entity;

    cr_assert_eq(otelctx_entities_take(&rest, &entity, &fault), 1);
    fault = (struct otelctx_fault){0};
    return otelctx_entity_ref_add(&payload, &entity, text, &fault);
}

static void expect_attribute(const char *key, const char *value)
{
    const struct otelctx_span found =
        otelctx_payload_get(&payload, OTELCTX_RESOURCE, otelctx_span_from(key));

    cr_expect(otelctx_span_equal(found, otelctx_span_from(value)), "%s is %.*s",
              key, (int)found.size, found.at);
}

static void expect_refs(const char *bytes)
{
    const struct otelctx_span refs = otelctx_payload_refs(&payload);

    cr_expect(otelctx_span_equal(refs, otelctx_span_from(bytes)), "%zu bytes",
              refs.size);
}

static void expect_fault(size_t pos, const char *why)
{
    cr_expect_eq(fault.pos, pos, "at %zu", fault.pos);
    cr_expect_str_eq(fault.why, why);
}

/* Resource { entity_refs = 3 }, EntityRef { schema_url = 1, type = 2, id_keys =
 * 3, description_keys = 4 }. */
Test(entity, is_attributes_and_a_ref_with_their_keys)
{
    cr_expect_eq(add("host{a=1,b=%32}[c=3]@s:u"), 0);
    expect_attribute("a", "1");
    expect_attribute("b", "2");
    expect_attribute("c", "3");
    expect_refs("\x1a\x14\n\x03s:u\x12\x04host\x1a\x01"
                "a\x1a\x01"
                "b\"\x01"
                "c");
}

Test(entity, without_description_and_url_has_none)
{
    cr_expect_eq(add("h{a=1}"), 0);
    expect_refs("\x1a\x06\x12\x01h\x1a\x01"
                "a");
}

/* So that its ref does not name an attribute that is not there. */
Test(entity, keeps_the_attributes_of_its_keys)
{
    const struct otelctx_span unset = {0};

    cr_assert_eq(add("type{a=1}[b=2]"), 0);
    cr_expect_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("a"), unset),
                 -EPERM);
    cr_expect_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("b"), unset),
                 -EPERM);
    expect_attribute("a", "1");
    expect_attribute("b", "2");
}

/* "Error Handling": what the later one says counts, and that is added first. */

Test(entity, with_the_type_and_identity_of_a_later_one_is_refused)
{
    cr_assert_eq(add("h{a=1,b=2}"), 0);
    cr_expect_eq(add("h{b=2,a=1}"), -EEXIST);
    expect_fault(1, "no later entity of this type and identity");
}

Test(entity, with_another_type_or_identity_is_another_one)
{
    cr_assert_eq(add("h{a=1,b=2}"), 0);
    cr_expect_eq(add("other{a=1,b=2}"), 0);
    cr_expect_eq(add("h{a=1}"), 0);
    cr_expect_eq(add("h{a=1,b=2,c=3}"), 0);
    cr_expect_eq(add("h{a=1,c=3}"), 0);
}

Test(entity, with_another_value_for_what_identifies_a_later_one_is_refused)
{
    cr_assert_eq(add("h{a=1}"), 0);
    cr_expect_eq(add("g{x=1,a=2}"), -EEXIST);
    expect_fault(7, "the value of a later entity");
    expect_attribute("a", "1");
}

Test(entity, leaves_out_a_description_that_a_later_one_has_otherwise)
{
    cr_assert_eq(add("h{a=1}[d=1]"), 0);
    cr_expect_eq(add("g{x=1}[d=2,e=3]"), 1);
    expect_fault(8, "the value of a later entity");
    expect_attribute("d", "1");
    expect_attribute("e", "3");
    expect_refs("\x1a\x09\x12\x01g\x1a\x01x\"\x01"
                "e\x1a\x09\x12\x01h\x1a\x01"
                "a\"\x01"
                "d");
}

Test(entity, with_a_malformed_attribute_is_refused_at_its_place)
{
    cr_expect_eq(add("h{a=1}[d=1,e=%x]"), -EINVAL);
    cr_expect_geq(fault.pos, 14);
    cr_expect(fault.why);
}

Test(entity, with_a_key_of_the_shims_own_is_refused)
{
    cr_expect_eq(add("h{threadlocal.x=1}"), -EPERM);
    cr_expect_null(fault.why);
    cr_expect_eq(fault.pos, 3);
}

Test(entity, without_room_for_its_ref_is_refused)
{
    static char many[OTELCTX_PAYLOAD_MAX];
    size_t size = sizeof(many);

    memset(many, 'x', sizeof(many));
    while (otelctx_payload_set(&payload, OTELCTX_RESOURCE, OTELCTX_SPAN("x"),
                               (struct otelctx_span){many, size}))
        size--;
    cr_assert_eq(otelctx_payload_set(&payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("x"),
                                     (struct otelctx_span){many, size - 12}),
                 0);
    cr_expect_eq(add("h{a=1}"), -ENOSPC);
    expect_attribute("a", "1"); /* it was the ref that found none */
    cr_expect_null(fault.why);
    expect_refs("");
}
