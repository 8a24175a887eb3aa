/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/base/mapping.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct otelctx_mapping mapping;
static struct otelctx_failure failure;
static size_t page;

static void open_it(void)
{
    page = (size_t)getpagesize();
    cr_assert_eq(otelctx_mapping_open("OTEL_CTX", page, &mapping, &failure), 0);
}

/* The line of /proc/self/maps that is about an address; "" if none is. */
static const char *line_of(const void *at)
{
    static char line[512];
    FILE *const maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    bool found = false;

    cr_assert(maps);
    while (!found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%lx-%lx", &from, &to) == 2 &&
                from <= (uintptr_t)at && (uintptr_t)at < to;
    (void)fclose(maps);
    return found ? line : "";
}

static bool is_in_child(const void *at)
{
    int status;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(otelctx_sys_readable(at) ? 1 : 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return status != 0;
}

Test(mapping, is_private_and_writable_and_has_the_name_of_its_memfd)
{
    open_it();
    cr_expect(strstr(line_of(mapping.at), " rw-p "), "%s", line_of(mapping.at));
    cr_expect(strstr(line_of(mapping.at), "/memfd:OTEL_CTX"), "%s",
              line_of(mapping.at));
    cr_expect(mapping.has_name);
    cr_expect_eq(mapping.size, page);
    memset(mapping.at, 1, page);
}

Test(mapping, leaves_no_descriptor)
{
    const int before = dup(0);
    int after;

    close(before);
    open_it();
    after = dup(0);
    cr_expect_eq(after, before);
}

Test(mapping, is_not_inherited_by_a_child)
{
    open_it();
    cr_expect(otelctx_sys_readable(mapping.at));
    cr_expect_not(is_in_child(mapping.at));
}

Test(mapping, is_anonymous_where_a_file_would_exceed_the_size_limit)
{
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}), 0);
    open_it();
    cr_expect_not(strstr(line_of(mapping.at), "memfd"), "%s",
                  line_of(mapping.at));
    cr_expect_not(mapping.has_name);
    memset(mapping.at, 1, page);
}

Test(mapping, without_a_name_is_an_error_unless_the_kernel_names_it)
{
    int err;

    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}), 0);
    open_it();
    err = otelctx_mapping_name(&mapping, "OTEL_CTX");
    cr_expect_eq(err == 0, mapping.has_name);
    cr_expect_eq(err != 0, !strstr(line_of(mapping.at), "[anon:OTEL_CTX]"));
}

Test(mapping, of_a_memfd_has_a_name_in_either_case)
{
    open_it();
    cr_expect_eq(otelctx_mapping_name(&mapping, "OTEL_CTX"), 0);
}

Test(mapping, that_is_closed_is_gone)
{
    const uint8_t *at;

    open_it();
    at = mapping.at;
    otelctx_mapping_close(&mapping);
    cr_expect_str_eq(line_of(at), "");
    cr_expect_null(mapping.at);
    cr_expect_not(mapping.has_name);
}

Test(mapping, that_fails_names_the_system_call_and_leaves_nothing)
{
    cr_expect_eq(otelctx_mapping_open("OTEL_CTX", 0, &mapping, &failure),
                 -EINVAL);
    cr_expect_str_eq(failure.what, "mmap");
    cr_expect_eq(failure.err, -EINVAL);
    cr_expect_null(mapping.at);
}

Test(reserve, gives_anonymous_memory_that_no_child_inherits)
{
    uint8_t *at = NULL;

    page = (size_t)getpagesize();
    cr_assert_eq(otelctx_mapping_reserve(4 * page, &at, &failure), 0);
    memset(at, 1, 4 * page);
    cr_expect_not(strstr(line_of(at), "memfd"));
    cr_expect_not(is_in_child(at));
}
