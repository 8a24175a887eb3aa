/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/thread/slot.h"

#include <pthread.h>

#include "tests/support/slot.h"

enum {
    LONG_SIZE = 300
};

/* ---- Every call, for everything that the slot can contain ---------------- */

/* The calls: for each, a function without arguments. */
static int call_attach(void)
{
    return attach('B', 3);
}

static int call_attr(void)
{
    return attr(1, "new");
}

static int attach_with(char id, const struct otelctx_attribute *attributes,
                       size_t count)
{
    const struct otelctx_ids ids = ids_of(id, 3);

    return otelctx_attach_with(ids.trace_id, ids.span_id, 3, attributes, count);
}

/* Attributes that are left out shorten the result. */
static int call_with(void)
{
    const bool has_tls = slot_is_on(OTELCTX_STORAGE_TLS);
    const int got =
        attach_with('B', (struct otelctx_attribute[]){{0, 3, "new"}}, 1);

    cr_expect(got <= 0 || !has_tls);
    return got == 1 ? 0 : got;
}

static int call_replace(void)
{
    return attr(0, "newer");
}

static int call_unset(void)
{
    return otelctx_attr_unset(0);
}

static int call_detach(void)
{
    return otelctx_detach();
}

/* Also checks that a failure leaves the output unchanged. */
static int call_get(void)
{
    const struct otelctx_ids a = ids_of('A', 1);
    struct otelctx_ids out, before;
    int got;

    memset(&before, 0xa5, sizeof(before));
    out = before;
    got = otelctx_get(&out);
    cr_expect_eq(memcmp(&out, got ? &before : &a, sizeof(out)), 0,
                 "it gave other ids");
    return got;
}

/* Swaps a record in and out, which must restore everything, and in again. */
static int call_swap(void)
{
    struct otelctx_record *const before = *slot_place();
    const struct otelctx_record bytes = before ? *before : guests;
    struct otelctx_record *previous = &guests, *back = NULL;
    const int got = otelctx_swap(&guests, &previous);

    cr_expect_eq(previous, got ? &guests : before, "previous is another one");
    if (got)
        return got;
    cr_expect_eq(otelctx_swap(previous, &back), 0);
    cr_expect_eq(back, &guests);
    cr_expect_eq(*slot_place(), before);
    cr_expect(!before || !memcmp(before, &bytes, sizeof(bytes)),
              "the record was written to");
    return otelctx_swap(&guests, NULL);
}

/* Returns 0 or -EBUSY for a record or NULL. */
static int call_pin(void)
{
    struct otelctx_record *const record = otelctx_pin();

    cr_expect(!record || record == own, "it is another record");
    return record ? 0 : -EBUSY;
}

/* Attributes, and records that the program writes itself, are in TLS only. */
static bool needs_tls(int (*call)(void))
{
    return call == call_attr || call == call_replace || call == call_unset ||
           call == call_pin;
}

static void check_cell(enum slot holds, int (*call)(void), int returns,
                       const char *then)
{
    char unchanged[64];
    struct otelctx_record shared_before = {0};
    int got;

    slot_hold(holds);
    if (shared)
        shared_before = *shared;
    (void)stpcpy(unchanged, slot_seen());
    if (!slot_is_on(OTELCTX_STORAGE_TLS)) {
        cr_expect_null(otel_thread_ctx_v1);
        if (needs_tls(call)) {
            returns = call == call_pin ? -EBUSY : -EOPNOTSUPP;
            then = unchanged;
        }
    }
    errno = 77;
    got = call();
    cr_expect_eq(errno, 77, "errno was changed");
    cr_expect_eq(got, returns, "it returned %d", got);
    cr_expect_str_eq(slot_seen(), then, "a reader sees: %s", slot_seen());
    cr_expect_eq(memcmp(&foreign, &foreign_before, sizeof(foreign)), 0,
                 "the foreign record was written to");
    cr_expect(!shared || !memcmp(shared, &shared_before, sizeof(*shared)),
              "the shared record was written to");
}

/* What the slot contains, the rule, the call, its result, and what a reader
 * sees afterwards. */
#define CELL(state, rule, holds, call, returns, then)                          \
    Test(slot_that_holds_##state, rule, .init = slot_begin)                    \
    {                                                                          \
        check_cell(holds, call_##call, returns, then);                         \
    }

/* What call_with() adds: attributes are in TLS only. */
#if defined(WITHOUT_TLS)
#define WITH ""
#else
#define WITH " 0=new"
#endif

CELL(nothing, attach_puts_the_own_record_in, NOTHING, attach, 0, "own B3")
CELL(nothing, attach_with_puts_the_own_record_in, NOTHING, with, 0,
     "own B3" WITH)
CELL(nothing, attr_has_nothing_to_set, NOTHING, attr, -ENOENT, "nothing")
CELL(nothing, unset_has_nothing_to_remove, NOTHING, unset, -ENOENT, "nothing")
CELL(nothing, detach_is_no_error, NOTHING, detach, 0, "nothing")
CELL(nothing, get_finds_nothing, NOTHING, get, -ENOENT, "nothing")
CELL(nothing, swap_puts_a_record_in, NOTHING, swap, 0, "guest's G1 0=old")
CELL(nothing, pin_puts_the_own_record_in, NOTHING, pin, 0, "own, not valid")

CELL(own, attach_rewrites_it, OWN, attach, 0, "own B3")
CELL(own, attach_with_rewrites_it, OWN, with, 0, "own B3" WITH)
CELL(own, attr_appends_in_place, OWN, attr, 0, "own A1 0=old 1=new")
CELL(own, attr_replaces_in_place, OWN, replace, 0, "own A1 0=newer")
CELL(own, unset_removes_in_place, OWN, unset, 0, "own A1")
CELL(own, detach_empties_the_slot, OWN, detach, 0, "nothing")
CELL(own, get_gives_the_ids, OWN, get, 0, "own A1 0=old")
CELL(own, swap_puts_another_one_in_and_back, OWN, swap, 0, "guest's G1 0=old")
CELL(own, pin_makes_it_not_valid, OWN, pin, 0, "own, not valid")

CELL(the_programs, attach_is_refused, PROGRAMS, attach, -EBUSY,
     "program's A1 0=old")
CELL(the_programs, attach_with_is_refused, PROGRAMS, with, -EBUSY,
     "program's A1 0=old")
CELL(the_programs, attr_appends_in_place, PROGRAMS, attr, 0,
     "program's A1 0=old 1=new")
CELL(the_programs, attr_replaces_in_place, PROGRAMS, replace, 0,
     "program's A1 0=newer")
CELL(the_programs, unset_removes_in_place, PROGRAMS, unset, 0, "program's A1")
CELL(the_programs, detach_empties_the_slot, PROGRAMS, detach, 0, "nothing")
CELL(the_programs, get_gives_the_ids, PROGRAMS, get, 0, "program's A1 0=old")
CELL(the_programs, swap_puts_another_one_in_and_back, PROGRAMS, swap, 0,
     "guest's G1 0=old")
CELL(the_programs, pin_is_refused, PROGRAMS, pin, -EBUSY, "program's A1 0=old")

/* Without TLS no attribute can be set and no record pinned, and nobody else
 * writes to the slot: only some tests make sense. */
#if !defined(WITHOUT_TLS)

CELL(pinned_own, attach_rewrites_it, PINNED, attach, 0, "own B3")
CELL(pinned_own, attach_with_rewrites_it, PINNED, with, 0, "own B3 0=new")
CELL(pinned_own, attr_appends_in_place, PINNED, attr, 0, "own A1 0=old 1=new")
CELL(pinned_own, attr_replaces_in_place, PINNED, replace, 0, "own A1 0=newer")
CELL(pinned_own, unset_removes_in_place, PINNED, unset, 0, "own A1")
CELL(pinned_own, detach_empties_the_slot, PINNED, detach, 0, "nothing")
CELL(pinned_own, get_gives_the_ids, PINNED, get, 0, "own A1 0=old")
CELL(pinned_own, swap_puts_another_one_in_and_back, PINNED, swap, 0,
     "guest's G1 0=old")
CELL(pinned_own, pin_makes_it_not_valid, PINNED, pin, 0, "own, not valid")

CELL(shared, attach_puts_the_own_record_in, SHARED, attach, 0, "own B3")
CELL(shared, attach_with_puts_the_own_record_in, SHARED, with, 0,
     "own B3 0=new")
CELL(shared, attr_appends_to_a_copy, SHARED, attr, 0, "own A1 1=new")
CELL(shared, unset_removes_from_a_copy, SHARED, unset, 0, "own A1")
CELL(shared, detach_empties_the_slot, SHARED, detach, 0, "nothing")
CELL(shared, get_gives_the_ids, SHARED, get, 0, "shared A1")
CELL(shared, swap_puts_another_one_in_and_back, SHARED, swap, 0,
     "guest's G1 0=old")
CELL(shared, pin_puts_the_own_record_in, SHARED, pin, 0, "own, not valid")

CELL(a_foreign, attach_is_refused, FOREIGN, attach, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, attach_with_is_refused, FOREIGN, with, -EBUSY,
     "foreign A1 0=old")
CELL(a_foreign, attr_is_refused, FOREIGN, attr, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, replacing_is_refused, FOREIGN, replace, -EBUSY,
     "foreign A1 0=old")
CELL(a_foreign, unset_is_refused, FOREIGN, unset, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, detach_is_refused, FOREIGN, detach, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, get_is_refused, FOREIGN, get, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, swap_is_refused, FOREIGN, swap, -EBUSY, "foreign A1 0=old")
CELL(a_foreign, pin_is_refused, FOREIGN, pin, -EBUSY, "foreign A1 0=old")

/* ---- Sequences of calls -------------------------------------------------- */

TestSuite(thread, .init = slot_begin);

#define EXPECT_SEEN(then)                                                      \
    cr_expect_str_eq(slot_seen(), then, "a reader sees: %s", slot_seen())

static const uint8_t zero[16];

static void make_keys_up_to(int last)
{
    char name[] = "key..";

    for (int index = 2; index <= last; index++) {
        name[3] = (char)('0' + index / 10);
        name[4] = (char)('0' + index % 10);
        cr_assert_eq(otelctx_key(name), index);
    }
}

Test(thread, without_a_trace_has_attributes_and_no_flags)
{
    cr_expect_eq(otelctx_attach(zero, zero, 3), 0);
    cr_expect_eq(attr(0, "x"), 0);
    EXPECT_SEEN("own -0 0=x");
}

Test(thread, has_both_ids_or_none)
{
    const struct otelctx_ids a = ids_of('A', 1);

    cr_expect_eq(otelctx_attach(a.trace_id, zero, 1), -EINVAL);
    cr_expect_eq(otelctx_attach(zero, a.span_id, 1), -EINVAL);
    cr_expect_eq(otelctx_attach64(1, 0), -EINVAL);
    cr_expect_eq(otelctx_attach64(0, 1), -EINVAL);
}

/* They would be another request's. */
Test(thread, keeps_no_ids_when_an_attach_has_wrong_arguments)
{
    const struct otelctx_ids a = ids_of('A', 1);

    for (unsigned i = 0; i < 4; i++) {
        struct otelctx_ids ids;

        cr_assert_eq(otelctx_attach(a.trace_id, a.span_id, 1), 0);
        cr_expect_eq(i == 0   ? otelctx_attach(a.trace_id, zero, 1)
                     : i == 1 ? otelctx_attach(zero, a.span_id, 1)
                     : i == 2 ? otelctx_attach64(8, 0)
                              : otelctx_attach_traceparent("00-", 3),
                     -EINVAL);
        cr_expect_eq(otelctx_get(&ids), -ENOENT);
        EXPECT_SEEN("nothing");
    }
}

/* Of the two arguments in `attributes` only `count` are given. */
Test(thread, attaches_several_attributes_or_nothing)
{
    static char text[300];
    const struct {
        int result;
        size_t count;
        struct otelctx_attribute attributes[4];
        const char *seen; /* NULL: see `size` */
        size_t size;      /* of all attributes */
    } rows[] = {
        {0, 0, {{0}}, "own B3", 0},
        {0, 2, {{0, 1, "a"}, {1, 0, NULL}}, "own B3 0=a 1=", 0},
        {0, 2, {{1, 1, "a"}, {0, 2, "\xc3\xa9"}}, "own B3 1=a 0=\xc3\xa9", 0},
        {0, 3, {{0, 1, "a"}, {1, 1, "b"}, {0, 2, "cd"}}, "own B3 0=cd 1=b", 0},
        {0, 3, {{0, 255, text}, {1, 255, text}, {32, 96, text}}, NULL, 612},
        {-ENOSPC,
         3,
         {{0, 255, text}, {1, 255, text}, {32, 97, text}},
         "nothing",
         0},
        {0, 2, {{0, 1, "a"}, {32, 1, "b"}}, "own B3 0=a P=b", 0},
        {1, 2, {{0, 256, text}, {1, 1, "b"}}, NULL, 2 + 255 + 3},
        {-EINVAL, 2, {{0, 1, "a"}, {33, 1, "b"}}, "nothing", 0},
        {-EINVAL, 2, {{0, 2, "a\xff"}, {1, 1, "b"}}, "nothing", 0},
    };

    memset(text, 'x', sizeof(text));
    make_keys_up_to(32);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_assert_eq(attach('A', 1), 0);
        cr_expect_eq(attach_with('B', rows[i].attributes, rows[i].count),
                     rows[i].result, "row %zu", i);
        if (rows[i].seen)
            cr_expect_str_eq(slot_seen(), rows[i].seen, "row %zu: %s", i,
                             slot_seen());
        else
            cr_expect_eq(own->attrs_size, rows[i].size, "row %zu: %u", i,
                         own->attrs_size);
        if (rows[i].result >= 0)
            cr_expect_eq(attr(2, ""), rows[i].size == 612 ? -ENOSPC : 0);
        cr_assert_eq(otelctx_detach(), 0);
    }
}

Test(thread, attaches_nothing_but_attributes_without_a_trace)
{
    const struct otelctx_attribute one = {0, 1, "a"};
    const struct otelctx_ids b = ids_of('B', 3);

    cr_expect_eq(otelctx_attach_with(zero, zero, 3, &one, 1), 0);
    EXPECT_SEEN("own -0 0=a");
    cr_expect_eq(otelctx_attach_with(b.trace_id, zero, 3, &one, 1), -EINVAL);
    EXPECT_SEEN("nothing");
}

Test(thread, attaches_what_a_traceparent_says)
{
    static const char text[] =
        "00-42424242424242424242424242424242-4242424242424242-03, and more";

    cr_expect_eq(otelctx_attach_traceparent(text, 55), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, attaches_nothing_for_a_malformed_traceparent)
{
    static const char text[] =
        "00-42424242424242424242424242424242-4242424242424242-03, and more";

    cr_expect_eq(otelctx_attach_traceparent(text, 54), -EINVAL);
    cr_expect_eq(otelctx_attach_traceparent(text, 56), -EINVAL);
    cr_expect_eq(otelctx_attach_traceparent(text, 0), -EINVAL);
    EXPECT_SEEN("nothing");
}

Test(thread, refuses_an_attribute_without_a_key)
{
    slot_hold(OWN);
    cr_expect_eq(attr(2, "x"), -EINVAL);
    cr_expect_eq(attr(255, "x"), -EINVAL);
    cr_expect_eq(otelctx_attr_unset(2), -EINVAL);
    cr_expect_eq(otelctx_record_attr(&programs, 2, "x", 1), -EINVAL);
    EXPECT_SEEN("own A1 0=old");
}

Test(thread, refuses_an_attribute_that_is_not_utf8)
{
    slot_hold(OWN);
    cr_expect_eq(attr(0, "\xff"), -EINVAL);
    cr_expect_eq(attr(1, "\xc3"), -EINVAL);
    EXPECT_SEEN("own A1 0=old");
}

Test(thread, has_attributes_that_may_be_empty)
{
    slot_hold(OWN);
    cr_expect_eq(otelctx_attr(1, NULL, 0), 0);
    EXPECT_SEEN("own A1 0=old 1=");
}

Test(thread, has_values_of_every_length)
{
    char text[256];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(' ' + i % 95);
    for (size_t size = 0; size < sizeof(text); size++) {
        cr_assert_eq(attach('B', 3), 0);
        cr_assert_eq(otelctx_attr(0, text, size), 0);
        cr_assert_eq(attr(1, "next"), 0);
        cr_assert_eq(own->attrs_size, 2 + size + 6);
        cr_expect_eq(own->attrs[1], size);
        cr_expect_eq(memcmp(own->attrs + 2, text, size), 0, "%zu", size);
        cr_expect_eq(memcmp(own->attrs + 2 + size, "\1\4next", 6), 0, "%zu",
                     size);
    }
}

/* For every length and every position of the one invalid byte. */
Test(thread, refuses_what_is_not_utf8_anywhere_in_it)
{
    char text[40];

    cr_assert_eq(attach('B', 3), 0);
    for (size_t size = 1; size <= sizeof(text); size++)
        for (size_t bad = 0; bad < size; bad++) {
            memset(text, 'x', sizeof(text));
            text[bad] = (char)0xff;
            cr_expect_eq(otelctx_attr(0, text, size), -EINVAL, "%zu of %zu",
                         bad, size);
        }
    EXPECT_SEEN("own B3");
    cr_expect_eq(attr(0, "caf\xc3\xa9"), 0);
    EXPECT_SEEN("own B3 0=caf\xc3\xa9");
    cr_expect_eq(attr(0, "tea"), 0);
    EXPECT_SEEN("own B3 0=tea");
}

/* The keys 0 and 32 share a bit: see otelctx_key_bit(). */
Test(thread, distinguishes_keys_that_share_a_bit)
{
    make_keys_up_to(32);
    cr_assert_eq(attach('B', 3), 0);
    cr_expect_eq(attr(0, "a"), 0);
    cr_expect_eq(attr(32, "b"), 0);
    EXPECT_SEEN("own B3 0=a P=b");
    cr_expect_eq(attr(0, "c"), 0);
    cr_expect_eq(attr(32, "d"), 0);
    EXPECT_SEEN("own B3 0=c P=d");
    cr_expect_eq(attr(33, "e"), -EINVAL);
}

Test(thread, knows_the_keys_that_its_record_got_as_the_programs)
{
    struct otelctx_record *swapped_out;

    cr_assert_eq(attach('B', 3), 0);
    cr_assert_eq(otelctx_swap(NULL, &swapped_out), 0);
    cr_assert_eq(swapped_out, own);
    cr_expect_eq(otelctx_record_attr(swapped_out, 1, "old", 3), 0);
    cr_assert_eq(otelctx_swap(swapped_out, NULL), 0);
    cr_expect_eq(attr(1, "new"), 0);
    EXPECT_SEEN("own B3 1=new");
}

Test(thread, says_that_a_long_value_was_cut)
{
    char text[LONG_SIZE];

    memset(text, 'x', sizeof(text));
    slot_hold(OWN);
    cr_expect_eq(otelctx_attr(0, text, 255), 0);
    cr_expect_eq(otelctx_attr(1, text, 256), 1);
    cr_expect_eq(own->attrs_size, 2 * (2 + 255));
    text[254] = '\xc3'; /* U+00E9 */
    text[255] = '\xa9';
    cr_expect_eq(otelctx_attr(1, text, sizeof(text)), 1);
    cr_expect_eq(own->attrs_size, 2 + 255 + 2 + 254);
}

Test(thread, whose_record_is_full_keeps_it_as_it_is)
{
    char text[LONG_SIZE];
    struct otelctx_record before;

    memset(text, 'x', sizeof(text));
    cr_assert_eq(otelctx_key("two"), 2);
    slot_hold(OWN);
    cr_expect_eq(otelctx_attr(0, text, 255), 0);
    cr_expect_eq(otelctx_attr(1, text, 255), 0);
    before = *own;
    cr_expect_eq(otelctx_attr(2, text, 97), -ENOSPC);
    cr_expect_eq(otel_thread_ctx_v1, own);
    cr_expect_eq(memcmp(own, &before, sizeof(before)), 0);
    cr_expect_eq(otelctx_attr(2, text, 96), 0);
}

Test(thread, leaves_a_record_with_malformed_attributes_alone)
{
    slot_hold(PROGRAMS);
    programs.attrs_size = 4; /* half a value */
    cr_expect_eq(attr(0, "x"), -EINVAL);
    cr_expect_eq(otelctx_attr_unset(0), -EINVAL);
    cr_expect_eq(programs.attrs_size, 4);
    cr_expect_eq(memcmp(programs.attrs, "\0\3old", 5), 0);
    cr_expect_eq(otel_thread_ctx_v1, &programs);
}

/* Rule: OTEP 4947, "Context Attachment": a writer hides records either with the
 * pointer or with `valid`, and does not mix the two. */
Test(thread, whose_record_is_attached_by_the_pointer_has_it_always_valid)
{
    slot_hold(OWN);
    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(own->valid, 1);
        call_attr();
        cr_expect_eq(own->valid, 1);
        call_replace();
        cr_expect_eq(own->valid, 1);
        call_unset();
        cr_expect_eq(own->valid, 1);
        call_detach();
        cr_expect_eq(own->valid, 1);
        call_attach();
    }
}

Test(thread, whose_record_is_pinned_has_it_always_in_the_slot)
{
    slot_hold(PINNED);
    for (unsigned i = 0; i < 3; i++) {
        call_attr();
        cr_expect_eq(otel_thread_ctx_v1, own);
        call_replace();
        cr_expect_eq(otel_thread_ctx_v1, own);
        call_unset();
        cr_expect_eq(otel_thread_ctx_v1, own);
        call_pin();
        cr_expect_eq(otel_thread_ctx_v1, own);
        call_attach();
        cr_expect_eq(otel_thread_ctx_v1, own);
    }
}

Test(thread, that_pins_gets_a_record_of_zeroes)
{
    static const uint8_t zeroes[28];

    slot_hold(OWN);
    cr_expect_eq(otelctx_pin(), own);
    cr_expect_eq(memcmp(own, zeroes, sizeof(zeroes)), 0);
}

Test(thread, that_pins_twice_gets_the_same_record_anew)
{
    static const uint8_t zeroes[28];

    slot_hold(PINNED);
    cr_expect_eq(otelctx_pin(), own);
    cr_expect_eq(memcmp(own, zeroes, sizeof(zeroes)), 0);
    cr_expect_eq(attach('B', 3), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, whose_pinned_record_is_not_valid_is_attached_to_nothing)
{
    slot_hold(PINNED);
    own->valid = 0;
    cr_expect_eq(call_get(), -ENOENT);
    own->valid = 2;
    cr_expect_eq(call_get(), -ENOENT);
}

Test(thread, whose_pinned_record_is_not_valid_keeps_it_so_with_attributes)
{
    slot_hold(PINNED);
    own->valid = 0;
    cr_expect_eq(call_attr(), 0);
    cr_expect_eq(call_replace(), 0);
    EXPECT_SEEN("own, not valid");
    own->valid = 1;
    EXPECT_SEEN("own A1 0=newer 1=new");
}

Test(thread, starts_over_after_a_detach)
{
    slot_hold(OWN);
    cr_expect_eq(otelctx_detach(), 0);
    cr_expect_eq(call_attr(), -ENOENT);
    cr_expect_eq(call_get(), -ENOENT);
    cr_expect_eq(otelctx_detach(), 0);
    cr_expect_eq(call_attach(), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, that_detached_the_programs_record_may_attach_its_own)
{
    const struct otelctx_record before = programs;

    slot_hold(PROGRAMS);
    cr_expect_eq(otelctx_detach(), 0);
    cr_expect_eq(memcmp(&programs, &before, sizeof(before)), 0);
    cr_expect_eq(call_attach(), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, swaps_records_three_deep)
{
    struct otelctx_record third, *back[3];

    write_record(&third, 'T');
    slot_hold(OWN);
    cr_expect_eq(otelctx_swap(&programs, &back[0]), 0);
    cr_expect_eq(otelctx_swap(&guests, &back[1]), 0);
    cr_expect_eq(otelctx_swap(&third, &back[2]), 0);
    cr_expect_eq(otel_thread_ctx_v1, &third);
    cr_expect_eq(otelctx_swap(back[2], NULL), 0);
    EXPECT_SEEN("guest's G1 0=old");
    cr_expect_eq(otelctx_swap(back[1], NULL), 0);
    EXPECT_SEEN("program's A1 0=old");
    cr_expect_eq(otelctx_swap(back[0], NULL), 0);
    EXPECT_SEEN("own A1 0=old");
    cr_expect_eq(call_attr(), 0);
    EXPECT_SEEN("own A1 0=old 1=new");
}

Test(thread, may_swap_nothing_in)
{
    struct otelctx_record *previous = &guests;

    slot_hold(OWN);
    cr_expect_eq(otelctx_swap(NULL, &previous), 0);
    cr_expect_eq(previous, own);
    EXPECT_SEEN("nothing");
    cr_expect_eq(otelctx_swap(NULL, &previous), 0);
    cr_expect_null(previous);
    cr_expect_eq(otelctx_swap(own, NULL), 0);
    EXPECT_SEEN("own A1 0=old");
}

Test(thread, that_swapped_nothing_in_may_attach)
{
    slot_hold(PROGRAMS);
    cr_expect_eq(otelctx_swap(NULL, NULL), 0);
    cr_expect_eq(call_attach(), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, that_pinned_and_swapped_has_its_pinned_record_back)
{
    struct otelctx_record *previous;

    slot_hold(PINNED);
    cr_expect_eq(otelctx_swap(&programs, &previous), 0);
    cr_expect_eq(call_attach(), -EBUSY);
    cr_expect_eq(otelctx_swap(previous, NULL), 0);
    EXPECT_SEEN("own A1 0=old");
    cr_expect_eq(call_attach(), 0);
    EXPECT_SEEN("own B3");
}

Test(thread, swaps_no_record_at_an_odd_address_in)
{
    _Alignas(2) static char memory[sizeof(struct otelctx_record) + 2];
    struct otelctx_record *const odd = (void *)(memory + 1);
    struct otelctx_record *previous = &guests;
    const struct otelctx_ids a = ids_of('A', 1);

    slot_hold(OWN);
    cr_expect_eq(otelctx_record_init(odd, a.trace_id, a.span_id, 1), -EINVAL);
    cr_expect_eq(otelctx_swap(odd, &previous), -EINVAL);
    cr_expect_eq(previous, &guests);
    EXPECT_SEEN("own A1 0=old");
}

Test(thread, with_a_record_swapped_in_sets_attributes_of_that_one)
{
    struct otelctx_record *previous, before;

    slot_hold(OWN);
    before = *own;
    cr_expect_eq(otelctx_swap(&programs, &previous), 0);
    cr_expect_eq(call_attr(), 0);
    cr_expect_eq(call_replace(), 0);
    EXPECT_SEEN("program's A1 0=newer 1=new");
    cr_expect_eq(programs.valid, 1);
    cr_expect_eq(memcmp(own, &before, sizeof(before)), 0);
    cr_expect_eq(otelctx_swap(previous, NULL), 0);
    EXPECT_SEEN("own A1 0=old");
}

Test(thread, takes_a_record_for_foreign_that_it_has_given_back)
{
    slot_hold(PROGRAMS);
    cr_expect_eq(call_replace(), 0);
    cr_expect_eq(otelctx_swap(NULL, NULL), 0);
    otel_thread_ctx_v1 = &programs;
    cr_expect_eq(call_attr(), -EBUSY);
    otel_thread_ctx_v1 = NULL;
    slot_hold(PROGRAMS);
    cr_expect_eq(call_replace(), 0);
    cr_expect_eq(otelctx_detach(), 0);
    otel_thread_ctx_v1 = &programs;
    cr_expect_eq(call_attr(), -EBUSY);
    EXPECT_SEEN("program's A1 0=newer");
}

Test(thread, uses_the_slot_again_that_another_writer_has_cleared)
{
    slot_hold(FOREIGN);
    cr_expect_eq(call_attach(), -EBUSY);
    otel_thread_ctx_v1 = NULL;
    cr_expect_eq(call_attach(), 0);
    EXPECT_SEEN("own B3");
}

Test(record_of_the_program, is_prepared_and_valid)
{
    const struct otelctx_ids b = ids_of('B', 3);

    slot_begin();
    memset(&programs, 0xff, sizeof(programs));
    cr_expect_eq(otelctx_record_init(&programs, b.trace_id, b.span_id, 3), 0);
    cr_expect_eq(otelctx_record_attr(&programs, 1, "one", 3), 0);
    cr_expect_eq(otelctx_record_attr(&programs, 0, "zero", 4), 0);
    cr_expect_eq(otelctx_record_attr(&programs, 1, "1", 1), 0);
    slot_hold(PROGRAMS);
    EXPECT_SEEN("program's B3 1=1 0=zero");
}

Test(record_of_the_program, is_prepared_with_attributes_or_not_valid)
{
    const struct otelctx_ids b = ids_of('B', 3);
    const struct otelctx_attribute two[] = {{1, 3, "one"}, {0, 2, "z\xff"}};

    slot_begin();
    cr_expect_eq(
        otelctx_record_init_with(&programs, b.trace_id, b.span_id, 3, two, 1),
        0);
    slot_hold(PROGRAMS);
    EXPECT_SEEN("program's B3 1=one");
    cr_assert_eq(otelctx_detach(), 0);
    cr_expect_eq(
        otelctx_record_init_with(&programs, b.trace_id, b.span_id, 3, two, 2),
        -EINVAL);
    cr_expect_eq(programs.valid, 0);
    cr_expect_eq(
        otelctx_record_init_with(NULL, b.trace_id, b.span_id, 3, two, 1),
        -EINVAL);
}

Test(record_of_the_program, has_both_ids_or_none)
{
    const struct otelctx_record before = programs;
    const struct otelctx_ids a = ids_of('A', 1);

    cr_expect_eq(otelctx_record_init(&programs, a.trace_id, zero, 1), -EINVAL);
    cr_expect_eq(otelctx_record_init(&programs, zero, a.span_id, 1), -EINVAL);
    cr_expect_eq(otelctx_record_init(NULL, a.trace_id, a.span_id, 1), -EINVAL);
    cr_expect_eq(memcmp(&programs, &before, sizeof(before)), 0);
    cr_expect_eq(otelctx_record_init(&programs, zero, zero, 3), 0);
    cr_expect_eq(programs.trace_flags, 0);
    cr_expect_eq(programs.valid, 1);
}

Test(record_of_the_program, that_is_none_gets_no_attribute)
{
    _Alignas(2) static char memory[sizeof(struct otelctx_record) + 2];
    struct otelctx_record *const odd = (void *)(memory + 1);

    slot_begin();
    cr_expect_eq(otelctx_record_attr(NULL, 0, "x", 1), -EINVAL);
    cr_expect_eq(otelctx_record_attr(odd, 0, "x", 1), -EINVAL);
}

Test(record_of_the_program, has_long_values_cut)
{
    char text[LONG_SIZE];

    slot_begin();
    memset(text, 'x', sizeof(text));
    programs.attrs_size = 0;
    cr_expect_eq(otelctx_record_attr(&programs, 0, text, sizeof(text)), 1);
    cr_expect_eq(otelctx_record_attr(&programs, 1, text, 255), 0);
    cr_expect_eq(otelctx_record_attr(&programs, 1, "\xff", 1), -EINVAL);
    cr_expect_eq(programs.attrs_size, 2 * (2 + 255));
}

/* Another thread, while a record is attached to this one. */
static void *live(void *unused)
{
    cr_expect_null(otel_thread_ctx_v1);
    cr_expect_eq(call_get(), -ENOENT);
    cr_expect_eq(attach('C', 0), 0);
    cr_expect_neq(otel_thread_ctx_v1, own, "it is another thread's record");
    cr_expect_eq(otel_thread_ctx_v1->trace_id[0], 'C');
    cr_expect_eq(otelctx_detach(), 0);
    return unused;
}

Test(thread, has_a_context_of_its_own)
{
    pthread_t other;

    slot_hold(OWN);
    cr_assert_eq(pthread_create(&other, NULL, live, NULL), 0);
    cr_assert_eq(pthread_join(other, NULL), 0);
    EXPECT_SEEN("own A1 0=old");
}

static int share(bool all_threads)
{
    const struct otelctx_ids b = ids_of('B', 1);

    return otelctx_thread_share(&b, all_threads, (size_t)getpagesize());
}

Test(shared_context, is_no_replacement_for_what_is_attached_already)
{
    slot_begin();
    slot_hold(OWN);
    (void)share(true);
    EXPECT_SEEN("own A1 0=old");
    cr_expect_eq(share(false), 0);
    EXPECT_SEEN("own A1 0=old");
    otel_thread_ctx_v1 = NULL;
    slot_hold(FOREIGN);
    (void)share(true);
    cr_expect_eq(share(false), 0);
    EXPECT_SEEN("foreign A1 0=old");
}

Test(shared_context, of_one_thread_alone_is_in_its_own_record)
{
    slot_begin();
    cr_expect_eq(share(false), 0);
    EXPECT_SEEN("own B1");
}

#endif /* WITHOUT_TLS */
