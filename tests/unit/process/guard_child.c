/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process/guard.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "shim/process/context.h"
#include "shim/process/identity.h"
#include "shim/process/instance_id.h"
#include "shim/process/state.h"
#include "shim/process/versions.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/own_context.h"

static struct otelctx_span name = OTELCTX_SPAN_INIT(OTELCTX_INSTANCE_KEY);
static char parents_id[OTELCTX_INSTANCE_SIZE];

/* A process with an instance id, which holds the lock. */
static void begin(void)
{
    cr_assert_eq(otelctx_state_lock(), 0);
    otelctx_instance_id_want();
    (void)otelctx_versions_edit();
    cr_assert_eq(otelctx_context_stage(), 0);
    memcpy(parents_id, otelctx_instance_id().at, sizeof(parents_id));
}

TestSuite(child, .init = begin, .timeout = 60);
TestSuite(resumed, .init = begin, .timeout = 60);

static void publish(void)
{
    cr_assert_eq(otelctx_context_publish(), 0);
    cr_assert(own_context_has(name.at, parents_id));
}

static bool has_parents_id(void)
{
    return strcmp(otelctx_instance_id().at, parents_id) == 0;
}

static unsigned contexts(void)
{
    const struct otelctx_header *last;

    return own_contexts(&last);
}

/* As guard.c does: the first call in a child. */
static void begin_child(enum otelctx_child what)
{
    (void)otelctx_state_lock();
    otelctx_guard_child_begin(what);
    otelctx_context_catch_up();
}

/* ---- A child that begins with nothing ------------------------------------ */

static bool child_publishes(void)
{
    begin_child(OTELCTX_CHILD_PUBLISHES);
    return !otelctx_state_is_new_child() && !has_parents_id() &&
           own_context_has(name.at, otelctx_instance_id().at);
}

Test(child, that_publishes_has_a_context_with_an_id_of_its_own)
{
    publish();
    cr_expect(in_child(child_publishes));
    cr_expect(own_context_has(name.at, parents_id), "the parent keeps its own");
}

static bool child_makes_an_id_when_it_publishes(void)
{
    begin_child(OTELCTX_CHILD_PUBLISHES);
    if (!has_parents_id())
        return false; /* that took a system call */
    return otelctx_context_publish() == 0 && !has_parents_id() &&
           own_context_has(name.at, otelctx_instance_id().at);
}

Test(child, of_a_parent_that_shows_nothing_makes_its_id_when_it_does)
{
    cr_expect(in_child(child_makes_an_id_when_it_publishes));
}

static bool child_drops(void)
{
    begin_child(OTELCTX_CHILD_DROPS);
    return contexts() == 0 && !otelctx_context_is_shown() && has_parents_id();
}

static bool child_drops_and_publishes(void)
{
    return child_drops() && otelctx_context_publish() == 0 &&
           own_context_has(name.at, otelctx_instance_id().at) &&
           !has_parents_id();
}

Test(child, that_drops_has_no_context_until_it_publishes)
{
    publish();
    cr_expect(in_child(child_drops));
    cr_expect(in_child(child_drops_and_publishes));
}

/* An SDK in the child reports the id in the environment. */
static bool child_has_another_id(void)
{
    const char *exported;

    begin_child(OTELCTX_CHILD_DROPS);
    exported = getenv("OTEL_RESOURCE_ATTRIBUTES");
    return contexts() == 0 && !has_parents_id() && exported &&
           strstr(exported, otelctx_instance_id().at);
}

Test(child, renews_an_id_that_was_exported_though_it_drops)
{
    publish();
    cr_assert_eq(otelctx_instance_id_export(OTELCTX_SPAN(""),
                                            (struct otelctx_span){NULL, 0}),
                 0);
    cr_expect(in_child(child_has_another_id));
}

static bool child_is_quiet(void)
{
    otelctx_guard_child_begin(OTELCTX_CHILD_MUST_BE_QUIET);
    return !otelctx_context_is_shown() && !otelctx_state_is_new_child();
}

Test(child, that_must_be_quiet_makes_no_system_call)
{
    publish();
    cr_assert_eq(otelctx_instance_id_export(OTELCTX_SPAN(""),
                                            (struct otelctx_span){NULL, 0}),
                 0);
    cr_expect(in_strict_child(child_is_quiet));
}

/* ---- A child that resumes a call of its parent's ------------------------- */

static enum otelctx_child what_child_does;
static pid_t forked = -1;

/* A signal handler, at the system call that names the mapping: forks once, as
 * start/fork.c has it. */
static void fork_in_handler(int number)
{
    (void)number;
    if (forked != -1)
        return;
    otelctx_state_begin_handler_fork();
    forked = fork();
    if (forked == 0)
        otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    if (forked == 0)
        otelctx_guard_child_resume(what_child_does);
}

/* What does the check say in a child that was forked in the middle of a call,
 * and resumed it? */
static bool in_resumed_child(enum otelctx_child what, void (*call)(void),
                             bool (*check)(void))
{
    const struct sigaction action = {.sa_handler = fork_in_handler,
                                     .sa_flags = SA_NODEFER};

    what_child_does = what;
    sigaction(SIGSYS, &action, NULL);
    cr_assert_eq(filter_call(SYS_prctl, SECCOMP_RET_TRAP), 0);
    call();
    cr_assert_neq(forked, -1, "nothing was named");
    if (forked > 0)
        return child_succeeds(forked);
    if (!otelctx_state_is_resumed())
        _exit(1);
    otelctx_guard_child_end_resumed();
    _exit(check() && !otelctx_state_is_resumed() ? 0 : 1);
}

static void publish_again(void)
{
    (void)otelctx_context_publish();
}

static void add_key(void)
{
    (void)otelctx_context_key(OTELCTX_SPAN("http.route"));
}

static bool has_own_context(void)
{
    return !has_parents_id() &&
           own_context_has(name.at, otelctx_instance_id().at);
}

Test(resumed, child_that_publishes_has_a_context_with_an_id_of_its_own)
{
    publish();
    cr_expect(
        in_resumed_child(OTELCTX_CHILD_PUBLISHES, add_key, has_own_context));
    cr_expect(own_context_has(name.at, parents_id), "the parent keeps its own");
}

static bool has_no_context(void)
{
    return contexts() == 0 && !otelctx_context_is_shown() &&
           !otelctx_state_publication()->mapping.at;
}

Test(resumed, child_that_drops_has_none)
{
    publish();
    cr_expect(in_resumed_child(OTELCTX_CHILD_DROPS, add_key, has_no_context));
    cr_expect(own_context_has(name.at, parents_id));
}

/* To publish is the child's own call, too. */
Test(resumed, child_that_drops_has_its_own_when_the_call_publishes)
{
    publish();
    cr_expect(
        in_resumed_child(OTELCTX_CHILD_DROPS, publish_again, has_own_context));
    cr_expect(own_context_has(name.at, parents_id));
}

static bool child_shows_it_at_once(void)
{
    otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    otelctx_guard_child_resume(OTELCTX_CHILD_PUBLISHES);
    return has_own_context();
}

/* Somebody may look when fork has returned in the child; and the call may be
 * in the middle of an update. */
Test(resumed, child_has_a_context_before_the_call_goes_on)
{
    struct otelctx_header *header;

    publish();
    header = (void *)otelctx_state_publication()->mapping.at;
    header->published_at_ns = 0;
    otelctx_state_begin_handler_fork();
    cr_expect(in_child(child_shows_it_at_once));
}

static bool child_shows_nothing_at_once(void)
{
    otelctx_state_adopt_copy();
    otelctx_state_end_handler_fork();
    otelctx_guard_child_resume(OTELCTX_CHILD_DROPS);
    return contexts() == 0;
}

Test(resumed, child_that_drops_has_none_before_the_call_goes_on)
{
    publish();
    otelctx_state_begin_handler_fork();
    cr_expect(in_child(child_shows_nothing_at_once));
}

static bool child_resumes_quietly(void)
{
    otelctx_guard_child_resume(OTELCTX_CHILD_MUST_BE_QUIET);
    return !otelctx_context_is_shown();
}

Test(resumed, child_that_must_be_quiet_makes_no_system_call)
{
    publish();
    otelctx_state_begin_handler_fork();
    cr_expect(in_strict_child(child_resumes_quietly));
}
