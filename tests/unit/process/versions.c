/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/versions.h"

#include <criterion/criterion.h>

#include "shim/process/state.h"

/* The attribute "n" of a version, a digit, or '-'. */
static char number_in(const struct otelctx_payload *payload)
{
    struct otelctx_span rest =
        otelctx_payload_attributes(payload, OTELCTX_RESOURCE);
    struct otelctx_span value;

    if (rest.size == 0)
        return '-';
    (void)otelctx_payload_take(&rest, &value);
    return *value.at;
}

static struct otelctx_payload *edit(const char *number)
{
    struct otelctx_payload *const payload = otelctx_versions_edit();

    cr_assert_eq(otelctx_payload_set(payload, OTELCTX_RESOURCE,
                                     OTELCTX_SPAN("n"),
                                     otelctx_span_from(number)),
                 0);
    return payload;
}

static void expect(char published, char staged)
{
    cr_expect_eq(number_in(otelctx_versions_published()), published, "%c",
                 number_in(otelctx_versions_published()));
    cr_expect_eq(number_in(otelctx_versions_staged()), staged, "%c",
                 number_in(otelctx_versions_staged()));
}

Test(versions, are_empty_at_first)
{
    expect('-', '-');
    cr_expect_eq(otelctx_payload_size(otelctx_versions_staged()), 2);
}

Test(version, that_is_edited_is_forgotten_unless_staged)
{
    (void)edit("1");
    expect('-', '-');
    cr_expect_eq(number_in(otelctx_versions_edit()), '-');
}

Test(version, that_is_edited_begins_as_a_copy_of_the_staged_one)
{
    (void)edit("1");
    otelctx_versions_stage();
    cr_expect_eq(number_in(otelctx_versions_edit()), '1');
}

Test(version, that_is_edited_stays_the_same_until_staged)
{
    cr_expect_eq(edit("1"), otelctx_versions_edited());
    cr_expect_eq(number_in(otelctx_versions_edited()), '1');
}

Test(version, that_is_edited_leaves_room_for_the_keys)
{
    const size_t before = otelctx_versions_edit()->reserved;

    cr_expect_eq(before, otelctx_key_map_size(&otelctx_state_key_map));
    cr_assert_eq(
        otelctx_key_map_add(&otelctx_state_key_map, OTELCTX_SPAN("http.route")),
        0);
    cr_expect_gt(otelctx_versions_edit()->reserved, before);
    cr_expect_eq(otelctx_versions_edit()->reserved,
                 otelctx_key_map_size(&otelctx_state_key_map));
}

Test(version, that_is_staged_is_not_published_yet)
{
    (void)edit("1");
    otelctx_versions_stage();
    expect('-', '1');
    otelctx_versions_publish();
    expect('1', '1');
}

/* A child may be forked at any of these points, and publishes what is staged or
 * what is published. */
Test(versions, that_are_staged_or_published_do_not_change_by_an_edit)
{
    /* Whether each number is published, in all orders of five. */
    for (unsigned order = 0; order < 32; order++) {
        char published = number_in(otelctx_versions_published());
        char staged = number_in(otelctx_versions_staged());

        for (unsigned i = 0; i < 5; i++) {
            const char number[] = {(char)('1' + i), '\0'};

            (void)edit(number);
            expect(published, staged);
            otelctx_versions_stage();
            staged = *number;
            expect(published, staged);
            if (order >> i & 1) {
                otelctx_versions_publish();
                published = staged;
            }
            expect(published, staged);
        }
    }
}

/* Each version that was ever used is memory in use. */
Test(versions, are_two_while_each_is_published)
{
    const struct otelctx_payload *used[2] = {NULL};

    for (unsigned i = 0; i < 10; i++) {
        const struct otelctx_payload *const payload = edit("1");

        if (i < 2)
            used[i] = payload;
        cr_expect_eq(payload, used[i % 2]);
        otelctx_versions_stage();
        otelctx_versions_publish();
    }
}
