/* SPDX-License-Identifier: Apache-2.0 */

/* The process context of a forked child. */

#include "tests/e2e/fork/fork.h"

#include <spawn.h>
#include <sys/prctl.h>

TestSuite(fork, .timeout = 600);

Test(fork, a_child_has_its_own_context_before_fork_returns)
{
    pid_t child;

    publish("1");
    child = fork();
    if (child == 0)
        _exit(judge_self("1"));
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

Test(fork, a_child_inherits_staged_attributes_and_does_not_publish_them)
{
    pid_t child;

    publish("1");
    cr_assert_eq(otelctx_process_set("n", "2"), 0);
    child = fork();
    if (child == 0) {
        const int fault = judge_self("1");

        if (otelctx_process_publish())
            _exit(CALL_FAILED);
        _exit(fault ? fault : judge_self("2"));
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

Test(fork, a_child_and_its_parent_each_update_their_own_context)
{
    pid_t child;

    publish("1");
    child = fork();
    if (child == 0) {
        publish("2");
        _exit(judge_self("2"));
    }
    publish("3");
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("3"), AS_IT_SHOULD_BE);
}

Test(fork, a_child_publishes_no_context_that_its_parent_dropped)
{
    pid_t child;

    cr_assert_eq(otelctx_process_drop(), 0);
    child = fork();
    if (child == 0) {
        const int fault = judge_self("1");

        publish("1");
        _exit(fault == NO_CONTEXT ? judge_self("1") : fault);
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), NO_CONTEXT);
}

/* Such a payload is not in the header's page. */
Test(fork, a_child_has_a_long_context_too)
{
    char *const value = calloc(1, 60001);
    pid_t child;

    memset(value, 'x', 60000);
    publish(value);
    child = fork();
    if (child == 0) {
        const int fault = judge_self(value);

        publish("2");
        _exit(fault ? fault : judge_self("2"));
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self(value), AS_IT_SHOULD_BE);
    free(value);
}

/* Each process forks the next one, reports what it finds in itself, and ends:
 * fork(2) gets slower with every living ancestor. */
static void tell_and_fork(int out, unsigned depth)
{
    pid_t child = 0;

    while (child == 0) {
        const int fault = judge_self("1");

        if (write(out, &fault, sizeof(fault)) != sizeof(fault) || depth == 0)
            break;
        depth--;
        child = fork();
    }
    _exit(0);
}

Test(fork, a_thousand_generations_have_a_context_each)
{
    int result[2], fault;
    unsigned count = 0;
    pid_t child;

    publish("1");
    cr_assert_eq(pipe(result), 0);
    child = fork();
    if (child == 0)
        tell_and_fork(result[1], 1000);
    close(result[1]);
    for (; read(result[0], &fault, sizeof(fault)) == sizeof(fault); count++)
        cr_expect_eq(fault, AS_IT_SHOULD_BE, "generation %u", count);
    cr_expect_eq(count, 1001);
    status_of(child);
}

Test(fork, a_daemon_has_a_context)
{
    int result[2], fault = -1;
    pid_t child;

    publish("1");
    cr_assert_eq(pipe(result), 0);
    child = fork();
    if (child == 0) {
        if (daemon(0, 1) == 0)
            fault = judge_self("1");
        _exit(write(result[1], &fault, sizeof(fault)) != sizeof(fault));
    }
    cr_assert_eq(read(result[0], &fault, sizeof(fault)), sizeof(fault));
    cr_expect_eq(fault, AS_IT_SHOULD_BE);
    status_of(child);
}

/* ---- Forks for which libc runs no handlers ------------------------------ */

/* Without the reader: it calls libc's prctl, which publishes. */
static bool has_mapping(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;

    while (maps && fgets(line, sizeof(line), maps))
        found = found || strstr(line, "OTEL_CTX");
    if (maps)
        fclose(maps);
    return found;
}

static void expect_context_at_first_call(pid_t (*fork_)(void))
{
    pid_t child;

    publish("1");
    child = fork_();
    if (child == 0) {
        int fault;

        if (has_mapping())
            _exit(NOT_ONE_CONTEXT);
        if (otelctx_process_set("n", "2")) /* does not publish "2" */
            _exit(CALL_FAILED);
        fault = judge_self("1");
        publish("3");
        _exit(fault ? fault : judge_self("3"));
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    publish("4");
    cr_expect_eq(judge_self("4"), AS_IT_SHOULD_BE);
}

Test(fork, a_child_of_a_raw_clone_has_a_context_at_its_first_call)
{
    expect_context_at_first_call(raw_fork);
}

Test(fork, a_child_of_a_raw_clone_has_a_context_when_it_calls_libcs_prctl)
{
    pid_t child;

    publish("1");
    child = raw_fork();
    if (child == 0) {
        if (has_mapping())
            _exit(NOT_ONE_CONTEXT);
        errno = 77;
        if (prctl(PR_SET_NAME, "worker", 0, 0, 0) || errno != 77)
            _exit(CALL_FAILED);
        _exit(judge_self("1"));
    }
    cr_expect_eq(status_of(child), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
}

#if __GLIBC_PREREQ(2, 34)
Test(fork, a_child_of__Fork_has_a_context_at_its_first_call)
{
    expect_context_at_first_call(_Fork);
}
#endif

/* Parent and child both have pid 1, each in its own pid namespace. */
static pid_t fork_as_first(void)
{
    return unshare(CLONE_NEWPID) ? -1 : raw_fork();
}

static pid_t only_child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
             (int)pid);
    f = fopen(path, "r");
    cr_assert_not_null(f);
    cr_assert_eq(fscanf(f, "%d", &child), 1);
    fclose(f);
    return child;
}

Test(fork, the_shim_notices_a_fork_when_parent_and_child_have_the_same_pid)
{
    int ready[2], go_on[2];
    pid_t outer;
    char byte;

    publish("1");
    cr_assert_eq(pipe(ready) | pipe(go_on), 0);
    outer = fork_as_first();
    if (outer < 0)
        cr_skip_test("machine: no pid namespaces: %s", strerror(errno));
    if (outer == 0) {
        const pid_t inner = fork_as_first();

        if (getpid() != 1)
            _exit(CALL_FAILED);
        publish(inner == 0 ? "inner" : "outer");
        _exit(write(ready[1], "", 1) != 1 || read(go_on[0], &byte, 1) != 1 ||
              (inner && status_of(inner)));
    }
    for (int i = 0; i < 2; i++)
        cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_expect_eq(judge(outer, "n", "outer"), AS_IT_SHOULD_BE);
    cr_expect_eq(judge(only_child_of(outer), "n", "inner"), AS_IT_SHOULD_BE);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
    cr_assert_eq(write(go_on[1], "12", 2), 2);
    cr_expect_eq(status_of(outer), 0);
}

/* ---- Children that borrow their parent's memory ------------------------- */

static uint64_t timestamp(void)
{
    struct otelread_report report = {0};
    uint64_t published_at_ns;

    otelread_report_make(&report, getpid(), OTELREAD_PATIENCE_LONG);
    cr_assert_eq(report.status, OTELREAD_OK, "%s", report.message);
    published_at_ns = report.contexts.list[0].header.published_at_ns;
    otelread_report_free(&report);
    return published_at_ns;
}

/* The tests call vfork on purpose.
 * NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,
 * clang-analyzer-unix.Vfork) */
Test(fork, vfork_and_posix_spawn_and_system_change_nothing)
{
    char *const words[] = {"true", NULL};
    uint64_t before;
    pid_t child;

    publish("1");
    before = timestamp();
    child = vfork();
    if (child == 0)
        _exit(0);
    cr_expect_eq(status_of(child), 0);
    cr_assert_eq(posix_spawnp(&child, "true", NULL, NULL, words, environ), 0);
    cr_expect_eq(status_of(child), 0);
    cr_expect_eq(system("exit 0"), 0);
    cr_expect_eq(timestamp(), before);
    publish("2");
    cr_expect_eq(judge_self("2"), AS_IT_SHOULD_BE);
}

Test(fork, a_child_of_vfork_may_make_calls_for_its_parent)
{
    pid_t child;

    publish("1");
    child = vfork();
    if (child == 0)
        _exit(otelctx_process_set("n", "2"));
    cr_expect_eq(status_of(child), 0);
    cr_expect_eq(judge_self("1"), AS_IT_SHOULD_BE);
    cr_expect_eq(otelctx_process_publish(), 0);
    cr_expect_eq(judge_self("2"), AS_IT_SHOULD_BE);
}

/* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,
 *           clang-analyzer-unix.Vfork) */
