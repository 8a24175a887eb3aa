/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/host.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

/* Instead of libc's: with the path and the flag that a test sets. */
static const char *execfn;
static bool secure;

unsigned long getauxval(unsigned long type)
{
    unsigned long (*libcs)(unsigned long);

    *(void **)&libcs = dlsym(RTLD_NEXT, "getauxval");
    if (type == AT_EXECFN && execfn)
        return (uintptr_t)execfn;
    return type == AT_SECURE && secure ? 1 : libcs(type);
}

Test(environment, is_that_of_libc)
{
    struct otelctx_environment e;

    cr_assert(otelctx_environment_open(&e));
    cr_expect_eq(e.strings, environ);
    otelctx_environment_close(&e);
    cr_expect_null(e.strings);
    cr_expect(getenv("PATH"), "closing it unmaps nothing of libc's");
}

/* /proc/self/environ shows the memory where the kernel put the variables. */
Test(environment, without_one_of_libc_is_what_concerns_the_shim_in_proc)
{
    char *const value = getenv("PATH");
    struct otelctx_environment e;
    bool has_name = false;
    char *path;

    cr_assert(value);
    path = value - strlen("PATH=");
    cr_assert_gt(strlen(path), strlen("OTEL_SERVICE_NAME=x"));
    (void)stpcpy(path, "OTEL_SERVICE_NAME=x");
    environ = NULL;
    cr_assert(otelctx_environment_open(&e));
    for (size_t i = 0; e.strings[i]; i++) {
        has_name |= strcmp(e.strings[i], "OTEL_SERVICE_NAME=x") == 0;
        cr_expect(!strncmp(e.strings[i], "OTEL", 4) ||
                      !strncmp(e.strings[i], "TRACEPARENT=", 12),
                  "another program's variable: %s", e.strings[i]);
    }
    cr_expect(has_name);
    otelctx_environment_close(&e);
}

static int count_variables(const char *prefix)
{
    int count = 0;

    for (char **at = environ; *at; at++)
        count += strncmp(*at, prefix, strlen(prefix)) == 0;
    return count;
}

Test(variables, replace_those_of_the_same_name_and_no_others)
{
    char *const strings[] = {"SAME=new", "OTH=1", "ADDED=1"};

    setenv("SAME", "old", 1);
    setenv("OTHER", "kept", 1);
    cr_expect_eq(otelctx_host_set_variables(strings, 3), 0);
    cr_expect_str_eq(getenv("SAME"), "new");
    cr_expect_str_eq(getenv("ADDED"), "1");
    cr_expect_str_eq(getenv("OTHER"), "kept");
    cr_expect_eq(count_variables("SAME="), 1);
}

Test(variables, cannot_be_set_without_an_environment_of_libc)
{
    char *const strings[] = {"ADDED=1"};

    environ = NULL;
    cr_expect_eq(otelctx_host_set_variables(strings, 1), -ENOSYS);
    cr_expect_null(environ);
}

Test(auxiliary, value_that_is_unknown_is_0_and_changes_no_errno)
{
    errno = 78;
    cr_expect_eq(otelctx_host_auxiliary(0x7fffffff), 0);
    cr_expect_eq(errno, 78);
    cr_expect_eq(otelctx_host_auxiliary(AT_PAGESZ),
                 (unsigned long)getpagesize());
}

Test(host, is_secure_when_the_kernel_says_so)
{
    cr_expect_not(otelctx_host_is_secure());
    secure = true;
    cr_expect(otelctx_host_is_secure());
}

static void expect_executable(const char *path, const char *name)
{
    execfn = path;
    cr_expect(
        otelctx_span_equal(otelctx_host_executable(), otelctx_span_from(name)),
        "the name of %s", path);
}

Test(executable, has_the_last_part_of_its_path_as_name)
{
    expect_executable("/usr/bin/env", "env");
    expect_executable("./env", "env");
    expect_executable("env", "env");
    expect_executable("/dev/fd/env/3", "3");
}

Test(executable, that_was_started_by_descriptor_has_no_name)
{
    expect_executable("/dev/fd/3", "");
    expect_executable("/dev/fd/3/usr/bin/env", "env");
}

/* This program defines getauxval, too. */
Test(next_symbol, is_the_one_of_libc)
{
    cr_assert_neq(dlsym(RTLD_NEXT, "getauxval"), dlsym(NULL, "getauxval"));
    cr_expect_eq(otelctx_host_next_symbol("getauxval"),
                 dlsym(RTLD_NEXT, "getauxval"));
}

Test(next_symbol, that_is_missing_leaves_no_error_for_the_host)
{
    (void)dlerror();
    errno = 78;
    cr_expect_null(otelctx_host_next_symbol("no_such_symbol_anywhere"));
    cr_expect_eq(errno, 78);
    cr_expect_null(dlerror());
}

/* Criterion is a library that comes with no libc. */
Test(libraries, of_the_program_are_seen)
{
    cr_expect(otelctx_host_has_other_libraries());
}

Test(namespace, is_that_of_the_executable)
{
    cr_expect(otelctx_host_is_beside_executable());
}

static int prepared, in_parent, in_child;

static void prepare(void)
{
    prepared++;
}

static void parent(void)
{
    in_parent++;
}

static void child(void)
{
    in_child++;
}

Test(fork, calls_each_handler_in_its_process)
{
    int status;
    pid_t pid;

    errno = 78;
    cr_assert_eq(otelctx_host_at_fork(prepare, parent, child), 0);
    cr_expect_eq(errno, 78);
    pid = fork();
    if (pid == 0)
        _exit(prepared == 1 && in_parent == 0 && in_child == 1 ? 0 : 1);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0);
    cr_expect_eq(prepared, 1);
    cr_expect_eq(in_parent, 1);
    cr_expect_eq(in_child, 0);
}

/* ---- Threads that end ---------------------------------------------------- */

static void count(void *value)
{
    ++*(unsigned *)value;
}

static void *end_with(void *value)
{
    otelctx_host_at_thread_exit((uintptr_t)value);
    return NULL;
}

/* How often a thread that ends is noticed. */
static unsigned noticed(void)
{
    unsigned calls = 0;
    pthread_t thread;

    otelctx_host_watch_threads(count);
    cr_assert_eq(pthread_create(&thread, NULL, end_with, &calls), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    return calls;
}

Test(thread_exit, is_noticed)
{
    cr_expect_eq(noticed(), 1);
}

/* glibc takes memory for keys that come late, and a signal handler may be what
 * makes a thread's first call. */
Test(thread_exit, is_not_noticed_where_that_would_take_memory)
{
    pthread_key_t key;

    for (unsigned i = 0; i < 32; i++)
        cr_assert_eq(pthread_key_create(&key, NULL), 0);
    cr_expect_eq(noticed(), 0);
}

Test(thread_exit, is_not_noticed_where_the_program_has_all_keys)
{
    pthread_key_t key;

    while (pthread_key_create(&key, NULL) == 0)
        ;
    cr_expect_eq(noticed(), 0);
}
