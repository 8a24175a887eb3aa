/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Signal handlers that interrupt a call in the middle of a write. The bytes
 * that the call reads (its argument) or writes last (its result) are in a page
 * that cannot be accessed. So each time, at this access, the SIGSEGV handler
 * runs; it makes the page accessible in the end. tests/e2e/step_signal.c tests
 * handlers at all other instructions.
 */

#include "shim/thread/slot.h"

#include <signal.h>
#include <sys/mman.h>

#include "tests/support/slot.h"

enum {
    PAGE = 65536 /* the largest page size of x86-64 and aarch64 */
};

static char *page;
static void (*meanwhile)(void); /* what the handler does, once */

static void on_fault(int signal_number, siginfo_t *info, void *unused)
{
    void (*const run)(void) = meanwhile;

    (void)info;
    (void)unused;
    meanwhile = NULL;
    if (run)
        run();
    if (!run || mprotect(page, PAGE, PROT_READ | PROT_WRITE))
        (void)signal(signal_number, SIG_DFL);
}

static void begin(void)
{
    const struct sigaction action = {.sa_sigaction = on_fault,
                                     .sa_flags = SA_SIGINFO};

    slot_begin();
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    cr_assert_neq(page, MAP_FAILED);
    cr_assert_eq(sigaction(SIGSEGV, &action, NULL), 0);
}

TestSuite(handler, .init = begin);

/* A copy of the bytes; `run` interrupts the first access to it. */
static void *guard(const void *bytes, size_t size, void (*run)(void))
{
    memcpy(page, bytes, size);
    meanwhile = run;
    cr_assert_eq(mprotect(page, PAGE, PROT_NONE), 0);
    return page;
}

/* The interrupted calls: those that the public functions make. The public
 * functions themselves would read the arguments before the write begins. */
static int write_attach(void (*run)(void))
{
    const struct otelctx_ids ids = ids_of('B', 3);

    return otelctx_thread_attach(guard(&ids, sizeof(ids), run),
                                 OTELCTX_SPAN(""));
}

static int write_attr(uint8_t key, const char *value, void (*run)(void))
{
    const size_t size = strlen(value);

    return otelctx_thread_attr(
        key, &(struct otelctx_span){guard(value, size, run), size});
}

static int write_append(void (*run)(void))
{
    return write_attr(1, "new", run);
}

static int write_replace(void (*run)(void))
{
    return write_attr(0, "newer", run);
}

/* What the handler found. */
static struct {
    char seen[64], seen_in[64], seen_out[64]; /* first, swapped in, and out */
    int attach, attr, unset, detach, get, in, out, in_attr, in_get;
    struct otelctx_record *pinned;
    struct otelctx_ids ids;
    int errno_after;
} found;

static void make_calls(void)
{
    errno = 78;
    (void)stpcpy(found.seen, slot_seen_in_tls());
    found.attach = attach('H', 0);
    found.attr = attr(0, "handler");
    found.unset = otelctx_attr_unset(0);
    found.detach = otelctx_detach();
    found.pinned = otelctx_pin();
    found.get = otelctx_get(&found.ids);
    found.errno_after = errno;
}

static void swap_there_and_back(void)
{
    struct otelctx_record *previous, *before_that;

    errno = 78;
    (void)stpcpy(found.seen, slot_seen_in_tls());
    found.in = otelctx_swap(&guests, &previous);
    found.in_attr = attr(0, "handler");
    found.in_get = otelctx_get(&found.ids);
    found.in |= otelctx_swap(NULL, &before_that); /* and once more, within */
    found.out = otelctx_swap(before_that, NULL);
    (void)stpcpy(found.seen_in, slot_seen_in_tls());
    found.out |= otelctx_swap(previous, NULL);
    (void)stpcpy(found.seen_out, slot_seen_in_tls());
    found.errno_after = errno;
}

static void check_calls(enum slot holds, int (*write)(void (*)(void)),
                        const char *seen, const char *then)
{
    const bool is_attached = strchr(seen, '1');
    const struct otelctx_ids a = ids_of('A', 1);

    slot_hold(holds);
    cr_expect_eq(write(make_calls), 0);
    cr_expect_str_eq(found.seen, seen, "the handler sees: %s", found.seen);
    cr_expect_eq(found.attach, -EBUSY);
    cr_expect_eq(found.attr, -EBUSY);
    cr_expect_eq(found.unset, -EBUSY);
    cr_expect_eq(found.detach, -EBUSY);
    cr_expect_null(found.pinned);
    cr_expect_eq(found.get, is_attached ? 0 : -ENOENT);
    cr_expect(!is_attached || !memcmp(&found.ids, &a, sizeof(a)));
    cr_expect_eq(found.errno_after, 78);
    cr_expect_str_eq(slot_seen(), then, "a reader sees: %s", slot_seen());
}

static void check_swap(enum slot holds, int (*write)(void (*)(void)),
                       const char *seen, const char *then)
{
    const struct otelctx_record guests_before = guests;
    const struct otelctx_ids g = ids_of('G', 1);

    slot_hold(holds);
    cr_expect_eq(write(swap_there_and_back), 0);
    cr_expect_str_eq(found.seen, seen, "the handler sees: %s", found.seen);
    cr_expect_eq(found.in, 0);
    cr_expect_eq(found.in_attr, -EBUSY);
    cr_expect_eq(found.in_get, 0);
    cr_expect_eq(memcmp(&found.ids, &g, sizeof(g)), 0);
    cr_expect_str_eq(found.seen_in, "guest's G1 0=old", "within: %s",
                     found.seen_in);
    cr_expect_eq(found.out, 0);
    cr_expect_str_eq(found.seen_out, seen, "it leaves: %s", found.seen_out);
    cr_expect_eq(memcmp(&guests, &guests_before, sizeof(guests)), 0);
    cr_expect_eq(found.errno_after, 78);
    cr_expect_str_eq(slot_seen(), then, "a reader sees: %s", slot_seen());
}

/* Afterwards all calls of the thread work as if no signal had come. */
static void check_rest(enum slot holds)
{
    const char *const then = slot_seen();
    struct otelctx_record *previous;

    cr_expect_eq(otelctx_get(&found.ids), 0, "get after %s", then);
    cr_expect_eq(otelctx_swap(&guests, &previous), 0, "swap after %s", then);
    cr_expect_eq(otelctx_swap(previous, NULL), 0, "swap back to %s", then);
    cr_expect_eq(attr(1, "rest"), 0, "attr after %s", then);
    cr_expect_eq(attach('R', 1), holds == PROGRAMS ? -EBUSY : 0);
    cr_expect_eq(otelctx_detach(), 0);
}

/* What the slot contains, the interrupted call, what the handler sees, and what
 * a reader sees after the call. */
#define INTERRUPTED(state, what, holds, call, seen, then)                      \
    Test(handler, may_make_no_call_that_writes_during_##what##_of_##state)     \
    {                                                                          \
        check_calls(holds, write_##call, seen, then);                          \
        check_rest(holds);                                                     \
    }                                                                          \
    Test(handler, may_swap_there_and_back_during_##what##_of_##state)          \
    {                                                                          \
        check_swap(holds, write_##call, seen, then);                           \
        check_rest(holds);                                                     \
    }

INTERRUPTED(an_empty_slot, attach, NOTHING, attach, "nothing", "own B3")
INTERRUPTED(the_own_record, attach, OWN, attach, "nothing", "own B3")
INTERRUPTED(the_own_record, appending, OWN, append, "own A1 0=old",
            "own A1 0=old 1=new")
INTERRUPTED(the_own_record, replacing, OWN, replace, "nothing",
            "own A1 0=newer")
INTERRUPTED(the_pinned_record, attach, PINNED, attach, "own, not valid",
            "own B3")
INTERRUPTED(the_pinned_record, appending, PINNED, append, "own A1 0=old",
            "own A1 0=old 1=new")
INTERRUPTED(the_pinned_record, replacing, PINNED, replace, "own, not valid",
            "own A1 0=newer")
INTERRUPTED(the_shared_record, attach, SHARED, attach, "nothing", "own B3")
INTERRUPTED(the_shared_record, appending, SHARED, append, "shared A1",
            "own A1 1=new")
INTERRUPTED(the_programs_record, appending, PROGRAMS, append,
            "program's A1 0=old", "program's A1 0=old 1=new")
INTERRUPTED(the_programs_record, replacing, PROGRAMS, replace, "nothing",
            "program's A1 0=newer")

/* After otelctx_detach() the record is no longer pinned. */
Test(handler, sees_a_record_that_is_pinned_no_longer_hidden_by_the_pointer)
{
    slot_hold(PINNED);
    cr_expect_eq(otelctx_detach(), 0);
    check_calls(OWN, write_attach, "nothing", "own B3");
    check_rest(OWN);
}

/* otelctx_record_change(), for a record that is not attached. */
static uint8_t found_valid;

static void look_at_valid(void)
{
    found_valid = programs.valid;
}

static void change_program(uint8_t key, const char *value)
{
    const size_t size = strlen(value);
    const struct otelctx_span guarded = {guard(value, size, look_at_valid),
                                         size};

    cr_expect_eq(otelctx_record_change(&programs, key, &guarded), 0);
    cr_expect_eq(programs.valid, 1);
}

Test(handler, sees_a_record_in_no_slot_not_valid_while_it_could_see_half)
{
    change_program(0, "newer");
    cr_expect_eq(found_valid, 0);
    change_program(1, "new");
    cr_expect_eq(found_valid, 1);
    slot_hold(PROGRAMS);
    cr_expect_str_eq(slot_seen(), "program's A1 0=newer 1=new");
}

/* The handler runs at the store to *previous, after the store to the slot. */
Test(handler, may_swap_there_and_back_during_swap)
{
    struct otelctx_record *none = NULL, **previous;

    slot_hold(OWN);
    previous = guard(&none, sizeof(none), swap_there_and_back);
    cr_expect_eq(otelctx_swap(&programs, previous), 0);
    cr_expect_str_eq(found.seen, "program's A1 0=old");
    cr_expect_eq(found.in, 0);
    cr_expect_eq(found.in_attr, 0, "a swap is no write");
    cr_expect_eq(found.out, 0);
    cr_expect_str_eq(found.seen_out, "program's A1 0=old");
    cr_expect_eq(*previous, own);
    check_rest(PROGRAMS);
}
