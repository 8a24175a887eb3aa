/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/rival.h"

#include <criterion/criterion.h>

#include "shim/base/log.h"
#include "shim/process/context.h"
#include "shim/process/filter.h"
#include "shim/process/state.h"
#include "tests/e2e/hosts/publisher.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/hear.h"
#include "tests/support/own_context.h"

TestSuite(rival, .timeout = 60);

enum {
    YIELDS = true,
    KEEPS = false,
    SEEN = true,
    UNSEEN = false
};

/* A process that is about to publish, and has the lock. */
static void start(bool yields, bool prctl_is_seen)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_rival_start(yields, prctl_is_seen);
}

static void check(enum otelctx_rival_occasion occasion)
{
    otelctx_rival_check(occasion);
}

/* And has published. */
static void start_and_publish(void)
{
    start(YIELDS, SEEN);
    check(OTELCTX_RIVAL_AT_START);
    cr_assert_eq(otelctx_context_publish(), 0);
}

/* An SDK publishes; unlike libc's prctl, raw is not seen. */
static void rival_comes(void)
{
    cr_assert_eq(publisher_does("other", "raw"), 0);
}

static bool has_yielded(void)
{
    return otelctx_context_has_yielded() &&
           otelctx_context_rival() == publisher_at &&
           own_context() == publisher_at;
}

static bool has_a_context_of_its_own(void)
{
    return !otelctx_context_has_yielded() && own_context() &&
           (const void *)own_context() ==
               otelctx_state_publication()->mapping.at;
}

/* ---- Whom the maps show -------------------------------------------------- */

Test(rival, that_came_before_us_is_found_at_start)
{
    start(YIELDS, UNSEEN);
    rival_comes();
    check(OTELCTX_RIVAL_AT_START);
    cr_expect(has_yielded());
}

/* To look takes long. */
Test(rival, is_not_looked_for_at_start_when_prctl_would_have_seen_it)
{
    start(YIELDS, SEEN);
    rival_comes();
    check(OTELCTX_RIVAL_AT_START);
    cr_expect_not(otelctx_context_has_yielded());
}

Test(rival, that_prctl_did_not_see_is_found_at_a_call)
{
    start_and_publish();
    rival_comes();
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(has_yielded());
}

Test(rival, with_a_name_and_no_context_is_none)
{
    start(YIELDS, UNSEEN);
    cr_assert_eq(publisher_does("stray", "raw"), 0);
    check(OTELCTX_RIVAL_AT_START);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect_not(otelctx_context_has_yielded());
}

Test(rival, is_let_alone_when_we_keep_ours)
{
    start(KEEPS, UNSEEN);
    rival_comes();
    check(OTELCTX_RIVAL_AT_START);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect_not(otelctx_rival_note(publisher_at));
    otelctx_rival_leave();
    cr_expect_not(otelctx_context_has_yielded());
}

/* A filter may kill who opens a file. */
Test(rival, is_not_looked_for_when_a_filter_came)
{
    start_and_publish();
    rival_comes();
    otelctx_filter_note();
    cr_assert_eq(filter_call(SYS_openat, SECCOMP_RET_KILL_PROCESS), 0);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect_not(otelctx_context_has_yielded());
}

Test(rival, is_not_looked_for_because_of_a_fork_or_when_a_call_ends)
{
    start_and_publish();
    rival_comes();
    check(OTELCTX_RIVAL_IF_GONE);
    otelctx_rival_leave();
    cr_expect_not(otelctx_context_has_yielded());
}

/* How many reads of files this process has made. */
static long reads(void)
{
    FILE *const io = fopen("/proc/self/io", "re");
    char line[128];
    long count = -1;

    cr_assert(io);
    while (count < 0 && fgets(line, sizeof(line), io))
        (void)sscanf(line, "syscr: %ld", &count);
    (void)fclose(io);
    return count;
}

/* A thousand calls, of which the first looks; however busy the machine is, few
 * of the others come after a pause of a thousand times as long. */
Test(rival, is_looked_for_in_a_small_part_of_the_time)
{
    enum {
        CALLS = 1000
    };
    long before;

    start_and_publish();
    otelctx_state_unlock();
    before = reads();
    for (unsigned i = 0; i < CALLS; i++) {
        cr_assert_eq(otelctx_state_lock(), 0);
        check(OTELCTX_RIVAL_AT_CALL);
        otelctx_state_unlock();
    }
    cr_expect_lt(reads() - before, CALLS);
}

/* ---- Whom prctl sees ----------------------------------------------------- */

Test(rival, that_is_noted_has_the_field_when_we_leave)
{
    start_and_publish();
    rival_comes();
    cr_expect(otelctx_rival_note(publisher_at));
    cr_expect_not(otelctx_context_has_yielded());
    otelctx_rival_leave();
    cr_expect(has_yielded());
}

Test(rival, that_is_noted_has_the_field_at_the_next_call)
{
    start_and_publish();
    check(OTELCTX_RIVAL_AT_CALL); /* no other look is due */
    rival_comes();
    cr_expect(otelctx_rival_note(publisher_at));
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(has_yielded());
}

Test(rival, that_no_reader_takes_is_not_noted)
{
    start_and_publish();
    cr_assert_eq(publisher_does("stray", "raw"), 0);
    cr_expect_not(otelctx_rival_note(publisher_at));
    cr_expect_not(otelctx_rival_note(NULL));
    cr_expect_not(otelctx_rival_note((const void *)8));
    otelctx_rival_leave();
    cr_expect_not(otelctx_context_has_yielded());
}

Test(rival, that_is_gone_when_we_leave_has_nothing)
{
    start_and_publish();
    rival_comes();
    cr_expect(otelctx_rival_note(publisher_at));
    cr_assert_eq(publisher_does("gone", NULL), 0);
    otelctx_rival_leave();
    cr_expect(has_a_context_of_its_own());
}

Test(rival, is_noted_without_the_lock)
{
    otelctx_rival_start(YIELDS, SEEN);
    rival_comes();
    cr_expect(otelctx_rival_note(publisher_at));
    cr_expect_not(otelctx_state_is_used());
}

/* ---- One that goes ------------------------------------------------------- */

static void yield(void)
{
    start_and_publish();
    rival_comes();
    cr_assert(otelctx_rival_note(publisher_at));
    otelctx_rival_leave();
    cr_assert(has_yielded());
}

Test(rival, that_stays_keeps_the_field)
{
    yield();
    check(OTELCTX_RIVAL_AT_CALL);
    check(OTELCTX_RIVAL_IF_GONE);
    otelctx_rival_leave();
    cr_expect(has_yielded());
}

Test(rival, that_is_gone_leaves_it_to_us_at_the_next_call)
{
    yield();
    cr_assert_eq(publisher_does("gone", NULL), 0);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(has_a_context_of_its_own());
}

/* A reader waits for the timestamp, and so do we. */
Test(rival, that_is_writing_keeps_the_field)
{
    yield();
    publisher_at->published_at_ns = 0;
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(otelctx_context_has_yielded());
}

Test(rival, that_was_not_named_leaves_it_to_us_at_once)
{
    struct otelctx_header *header;

    yield();
    /* Without a name: memory that only naming would let readers find. */
    header = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *header = *publisher_at;
    cr_assert_eq(publisher_does("gone", NULL), 0);
    cr_assert(otelctx_rival_note(header));
    otelctx_rival_leave();
    cr_assert_eq(otelctx_context_rival(), header);
    check(OTELCTX_RIVAL_UNNAMED);
    cr_expect(has_a_context_of_its_own());
}

Test(rival, that_is_gone_keeps_the_field_when_a_filter_came)
{
    yield();
    cr_assert_eq(publisher_does("gone", NULL), 0);
    otelctx_filter_note();
    cr_assert_eq(filter_call(SYS_openat, SECCOMP_RET_KILL_PROCESS), 0);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(otelctx_context_has_yielded());
}

Test(rival, that_another_one_follows_leaves_the_field_to_that)
{
    struct otelctx_header *first;

    yield();
    first = publisher_at;
    rival_comes();
    first->published_at_ns = 0;
    memset(first->signature, 0, sizeof(first->signature));
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(has_yielded());
}

/* ---- Our own mapping ----------------------------------------------------- */

Test(mapping, that_has_lost_its_name_is_replaced, .timeout = 60)
{
    const struct otelctx_header *last;

    start_and_publish();
    cr_assert_eq(publisher_does("restore", NULL), 0);
    cr_assert_eq(own_contexts(&last), 0);
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect(has_a_context_of_its_own());
}

Test(mapping, that_has_its_name_stays, .timeout = 60)
{
    const struct otelctx_header *before;

    start_and_publish();
    before = own_context();
    check(OTELCTX_RIVAL_AT_CALL);
    cr_expect_eq(own_context(), before);
}

/* ---- What is told -------------------------------------------------------- */

static unsigned lines_with(const char *text, const char *part)
{
    unsigned count = 0;

    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

Test(rival, is_told_of_once_and_so_is_its_end)
{
    const int end = hear();
    const char *said;

    otelctx_log_set_level(OTELCTX_LOG_INFO);
    yield();
    otelctx_rival_leave();
    cr_assert_eq(publisher_does("gone", NULL), 0);
    check(OTELCTX_RIVAL_AT_CALL);
    otelctx_rival_leave();
    otelctx_rival_leave();
    said = heard(end);
    cr_expect_eq(lines_with(said, ": info: "), 2, "%s", said);
    cr_expect_eq(lines_with(said, "another publisher is in this process"), 1);
    cr_expect_eq(lines_with(said, "ours is published again"), 1);
}
