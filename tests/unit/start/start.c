/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/start/start.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/process/context.h"
#include "shim/process/guard.h"
#include "shim/process/instance_id.h"
#include "shim/process/state.h"
#include "shim/start/copy.h"
#include "shim/thread/slot.h"
#include "tests/support/child.h"
#include "tests/support/filter.h"
#include "tests/support/hear.h"
#include "tests/support/own_context.h"

#define TRACEPARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/* Instead of shim/start/copy.c: the shim's constructor, which runs before a
 * test can set its environment, takes this copy for the one that stands back.
 */
static bool is_bound;

bool otelctx_copy_is_bound(void)
{
    return is_bound;
}

static void begin(void)
{
    cr_assert_eq(otelctx_status, OTELCTX_DISABLED);
    otelctx_status = OTELCTX_NOT_STARTED;
    is_bound = true;
    clearenv();
    setenv("OTELCTX_CONFIG_FILE", "/dev/null", 1);
    setenv("OTELCTX_LOG_LEVEL", "error", 1);
}

TestSuite(start, .init = begin, .timeout = 60);
TestSuite(instance_id, .init = begin, .timeout = 60);
TestSuite(traceparent, .init = begin, .timeout = 60);
TestSuite(told, .init = begin, .timeout = 60);

static bool has_no_context(void)
{
    const struct otelctx_header *last;

    return own_contexts(&last) == 0;
}

/* Start, and return what is told, but for what the file is told of. */
static const char *told(void)
{
    const int stderr_end = hear();

    (void)otelctx_start();
    return heard(stderr_end);
}

static void expect_told(const char *text)
{
    const char *const said = told();

    cr_expect(strstr(said, text), "%s", said);
}

/* ---- Once, and whether --------------------------------------------------- */

Test(start, publishes_what_the_environment_says)
{
    setenv("OTEL_SERVICE_NAME", "name", 1);
    errno = 78;
    cr_expect_eq(otelctx_start(), 0);
    cr_expect_eq(errno, 78);
    cr_expect(own_context_has("service.name", "name"));
    cr_expect_eq(otelctx_status, OTELCTX_WATCHING);
    cr_expect_not(otelctx_state_is_locked_by_me());
}

Test(start, happens_once)
{
    const struct otelctx_header *before;

    setenv("OTEL_SERVICE_NAME", "name", 1);
    cr_assert_eq(otelctx_start(), 0);
    before = own_context();
    setenv("OTEL_SERVICE_NAME", "another", 1);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect_eq(otelctx_start_first(), 0);
    cr_expect_eq(own_context(), before);
    cr_expect(own_context_has("service.name", "name"));
}

Test(start, of_a_disabled_process_does_nothing_however_often)
{
    setenv("OTELCTX_DISABLED", "true", 1);
    cr_expect_eq(otelctx_start(), -ENOSYS);
    unsetenv("OTELCTX_DISABLED");
    cr_expect_eq(otelctx_start(), -ENOSYS);
    cr_expect_eq(otelctx_status, OTELCTX_DISABLED);
    cr_expect(has_no_context());
    cr_expect_not(otelctx_state_is_used());
}

Test(start, of_a_copy_that_is_not_bound_does_nothing)
{
    is_bound = false;
    cr_expect_eq(otelctx_start(), -ENOSYS);
    cr_expect_eq(otelctx_status, OTELCTX_DISABLED);
    cr_expect(has_no_context());
}

static void *start_in_thread(void *unused)
{
    return otelctx_start() == 0 ? unused : &is_bound;
}

Test(start, of_several_threads_happens_once)
{
    pthread_t threads[8];
    void *failed;

    setenv("OTEL_SERVICE_NAME", "name", 1);
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, start_in_thread, NULL),
                     0);
    for (unsigned i = 0; i < 8; i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
    cr_expect(own_context_has("service.name", "name"), "one, and whole");
}

/* ---- A signal handler in the middle of it -------------------------------- */

static int started_in_handler;

static void start_in_handler(int number)
{
    (void)number;
    started_in_handler = otelctx_start();
}

/* The first system call of the instance id, under the lock of the context. */
Test(start, in_a_handler_that_interrupts_it_is_refused_and_the_first_goes_on)
{
    const struct sigaction action = {.sa_handler = start_in_handler};

    setenv("OTEL_SERVICE_NAME", "name", 1);
    setenv("OTELCTX_INSTANCE_ID", "generate", 1);
    sigaction(SIGSYS, &action, NULL);
    cr_assert_eq(filter_call(SYS_getrandom, SECCOMP_RET_TRAP), 0);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect_eq(started_in_handler, -EBUSY);
    cr_expect(own_context_has("service.name", "name"));
    cr_expect_eq(otelctx_status, OTELCTX_ENABLED);
    cr_expect_eq(otelctx_start_first(), 0);
}

static bool is_in_handler, had_ids_in_handler;
static uint64_t status_in_handler;

/* Start, and drop what that published; once. */
static void start_and_drop_in_handler(int number)
{
    struct otelctx_ids ids;

    (void)number;
    if (is_in_handler)
        return;
    is_in_handler = true;
    started_in_handler = otelctx_start();
    status_in_handler = otelctx_status;
    had_ids_in_handler = otelctx_thread_get(&ids) == 0;
    if (otelctx_guard_enter() == 0) {
        otelctx_context_drop();
        otelctx_guard_leave();
    }
}

/* At the system call that opens the file. */
Test(start, in_a_handler_before_the_first_publishes_is_the_one_that_counts)
{
    const struct sigaction action = {.sa_handler = start_and_drop_in_handler,
                                     .sa_flags = SA_NODEFER};

    setenv("TRACEPARENT", TRACEPARENT, 1);
    setenv("OTELCTX_TRACEPARENT", "main", 1);
    sigaction(SIGSYS, &action, NULL);
    cr_assert_eq(filter_call(SYS_openat, SECCOMP_RET_TRAP), 0);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect(is_in_handler);
    cr_expect_eq(started_in_handler, 0);
    cr_expect_not(had_ids_in_handler, "the thread's context is the first's");
    cr_expect_eq(status_in_handler, OTELCTX_NOT_STARTED);
    cr_expect_not(otelctx_context_is_shown(), "it was published again");
    cr_expect_eq(otelctx_status, OTELCTX_ENABLED);
}

/* ---- OTELCTX_PUBLISH ----------------------------------------------------- */

Test(start, publishes_nothing_where_nothing_is_configured_if_so_asked)
{
    setenv("OTELCTX_PUBLISH", "configured", 1);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect(has_no_context());
    cr_expect_eq(otelctx_status, OTELCTX_ENABLED);
}

Test(start, publishes_one_attribute_even_so)
{
    setenv("OTELCTX_PUBLISH", "configured", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1", 1);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect(own_context_has("a", "1"));
}

Test(start, publishes_nothing_where_every_attribute_is_wrong_if_so_asked)
{
    setenv("OTELCTX_PUBLISH", "configured", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a", 1);
    cr_expect_eq(otelctx_start(), 0);
    cr_expect(has_no_context());
}

/* ---- OTELCTX_FORK -------------------------------------------------------- */

static bool has_a_context(void)
{
    return own_context();
}

Test(start, gives_forked_children_a_context)
{
    cr_assert_eq(otelctx_start(), 0);
    cr_expect(in_child(has_a_context));
}

Test(start, gives_them_none_if_so_asked)
{
    setenv("OTELCTX_FORK", "drop", 1);
    cr_assert_eq(otelctx_start(), 0);
    cr_expect(in_child(has_no_context));
}

/* ---- OTELCTX_INSTANCE_ID ------------------------------------------------- */

/* RFC 9562, "UUID Version 4". */
static void expect_id(const char *id)
{
    cr_expect_eq(strlen(id), 36);
    cr_expect_eq(id[14], '4', "%s", id);
    cr_expect(own_context_has("service.instance.id", id), "%s", id);
}

Test(instance_id, is_generated)
{
    setenv("OTELCTX_INSTANCE_ID", "generate", 1);
    cr_assert_eq(otelctx_start(), 0);
    expect_id(otelctx_instance_id().at);
    cr_expect_null(getenv("OTEL_RESOURCE_ATTRIBUTES"));
}

Test(instance_id, is_exported_beside_what_the_user_wrote)
{
    const char *exported;

    setenv("OTELCTX_INSTANCE_ID", "export", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1", 1);
    cr_assert_eq(otelctx_start(), 0);
    exported = getenv("OTEL_RESOURCE_ATTRIBUTES");
    cr_assert(exported);
    cr_expect_eq(strncmp(exported, "a=1,service.instance.id=", 24), 0, "%s",
                 exported);
    expect_id(exported + 24);
    cr_expect_str_eq(getenv("OTELCTX_EXPORTED_ID"), exported + 24);
}

Test(instance_id, is_not_generated_unless_asked_for)
{
    cr_assert_eq(otelctx_start(), 0);
    cr_expect_not(own_context_holds("service.instance.id", 19));
}

Test(instance_id, of_the_users_stays_and_that_children_repeat_it_is_told)
{
    setenv("OTELCTX_INSTANCE_ID", "export", 1);
    setenv("OTELCTX_LOG_LEVEL", "info", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=mine", 1);
    expect_told(": info: the service.instance.id is configured");
    cr_expect(own_context_has("service.instance.id", "mine"));
    cr_expect_str_eq(getenv("OTEL_RESOURCE_ATTRIBUTES"),
                     "service.instance.id=mine");
}

Test(instance_id, that_cannot_be_made_is_told_and_left_out)
{
    setenv("OTELCTX_INSTANCE_ID", "generate", 1);
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    cr_assert_eq(filter_call(SYS_getrandom, SECCOMP_RET_ERRNO | ENOSYS), 0);
    expect_told(": warn: cannot give a service.instance.id: getrandom "
                "(errno 38)\n");
    cr_expect(own_context());
    cr_expect_not(own_context_holds("service.instance.id", 19));
}

/* ---- OTELCTX_TRACEPARENT ------------------------------------------------- */

static bool has_ids(void)
{
    struct otelctx_ids ids;

    return otelctx_thread_get(&ids) == 0;
}

Test(traceparent, is_the_context_that_the_main_thread_starts_with)
{
    struct otelctx_ids ids;

    setenv("TRACEPARENT", TRACEPARENT, 1);
    setenv("OTELCTX_TRACEPARENT", "main", 1);
    cr_assert_eq(otelctx_start(), 0);
    cr_assert_eq(otelctx_thread_get(&ids), 0);
    cr_expect_eq(ids.trace_id[0], 0x0a);
    cr_expect_eq(ids.span_id[7], 0x31);
    cr_expect_eq(ids.trace_flags, 1);
}

Test(traceparent, counts_for_nothing_unless_asked_for)
{
    setenv("TRACEPARENT", TRACEPARENT, 1);
    cr_assert_eq(otelctx_start(), 0);
    cr_expect_not(has_ids());
}

Test(traceparent, that_is_malformed_is_told_and_attached_to_no_thread)
{
    setenv("TRACEPARENT", "00-x", 1);
    setenv("OTELCTX_TRACEPARENT", "main", 1);
    expect_told(": error: TRACEPARENT: byte ");
    cr_expect_not(has_ids());
    cr_expect(own_context(), "the process context does not suffer");
}

Test(traceparent, that_is_missing_is_told)
{
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    setenv("OTELCTX_TRACEPARENT", "all", 1);
    expect_told(": warn: OTELCTX_TRACEPARENT: byte 1: \"all\": expected "
                "TRACEPARENT in the environment");
    cr_expect_not(has_ids());
}

/* ---- What is told -------------------------------------------------------- */

Test(told, is_nothing_of_a_correct_configuration)
{
    const int stderr_end = hear();

    setenv("OTEL_SERVICE_NAME", "name", 1);
    unsetenv("OTELCTX_CONFIG_FILE");
    cr_assert_eq(otelctx_start(), 0);
    cr_expect_str_eq(heard(stderr_end), "");
}

Test(told, at_info_is_that_it_published)
{
    char expected[64];
    const char *said;

    setenv("OTELCTX_LOG_LEVEL", "info", 1);
    said = told();
    (void)snprintf(expected, sizeof(expected),
                   ": info: published a process context of %u bytes\n",
                   own_context()->payload_size);
    cr_expect(strstr(said, expected), "%s", said);
    cr_expect_not(strstr(said, "some readers"), "%s", said);
}

Test(told, at_info_is_which_limit_of_readers_it_exceeds)
{
    char many[5000];

    memset(many, 'x', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    setenv("OTELCTX_LOG_LEVEL", "info", 1);
    setenv("OTEL_SERVICE_NAME", many, 1);
    expect_told(": info: some readers will not take it: ");
}

Test(told, at_debug_is_that_it_is_silent)
{
    setenv("OTELCTX_LOG_LEVEL", "debug", 1);
    setenv("OTELCTX_PUBLISH", "configured", 1);
    expect_told(": debug: silent: nothing is configured\n");
}

Test(told, at_warn_is_why_it_cannot_publish)
{
    setenv("OTELCTX_LOG_LEVEL", "warn", 1);
    cr_assert_eq(filter_call(SYS_memfd_create, SECCOMP_RET_ERRNO | ENOSYS), 0);
    cr_assert_eq(filter_call(SYS_mmap, SECCOMP_RET_ERRNO | ENOMEM), 0);
    expect_told(
        ": warn: cannot publish the process context: mmap (errno 12)\n");
    cr_expect(has_no_context());
    cr_expect_eq(otelctx_status, OTELCTX_ENABLED, "a later call may");
}
