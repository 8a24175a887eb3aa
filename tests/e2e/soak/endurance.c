/* SPDX-License-Identifier: Apache-2.0 */

/* A long-lived program under the shim leaks nothing. */

#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/otelctx.h"

TestSuite(endurance, .timeout = 1200);

struct usage {
    unsigned descriptors, threads;
    uint64_t mapped_pages, resident_pages;
};

static unsigned entries(const char *path)
{
    DIR *const folder = opendir(path);
    unsigned count = 0;

    cr_assert_not_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static struct usage usage(void)
{
    struct usage u = {.descriptors = entries("/proc/self/fd"),
                      .threads = entries("/proc/self/task")};
    FILE *const f = fopen("/proc/self/statm", "r");

    cr_assert_not_null(f);
    cr_assert_eq(
        fscanf(f, "%" SCNu64 " %" SCNu64, &u.mapped_pages, &u.resident_pages),
        2);
    fclose(f);
    return u;
}

/* One of each kind. */
static void make_ten_calls(unsigned number)
{
    static const uint8_t trace_id[16] = {1}, span_id[8] = {2};
    static struct otelctx_record record;
    struct otelctx_record *previous;
    struct otelctx_ids ids;
    char value[16];
    int key;

    snprintf(value, sizeof(value), "%u", number);
    cr_assert_eq(otelctx_process_set("n", value), 0);
    cr_assert_eq(otelctx_process_set_extra("n", value), 0);
    cr_assert_eq(otelctx_process_publish(), 0);
    key = otelctx_key("http.route");
    cr_assert_geq(key, 0);
    cr_assert_eq(otelctx_attach(trace_id, span_id, 1), 0);
    cr_assert_eq(otelctx_attr((uint8_t)key, value, strlen(value)), 0);
    cr_assert_eq(otelctx_record_init(&record, trace_id, span_id, 1), 0);
    cr_assert_eq(otelctx_swap(&record, &previous), 0);
    cr_assert_eq(otelctx_swap(previous, NULL), 0);
    cr_assert_eq(otelctx_get(&ids), 0);
}

static void drop_and_publish(void)
{
    cr_assert_eq(otelctx_process_drop(), 0);
    cr_assert_eq(otelctx_process_publish(), 0);
}

/* The shim publishes in the child, too. */
static void fork_once(void)
{
    const pid_t child = fork();
    int status;

    if (child == 0)
        _exit(0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

enum {
    CALLS = 1000000,
    DROPS = 5000,
    FORKS = 500,
};

Test(
    endurance,
    a_million_calls_and_forks_leave_descriptors_threads_and_memory_as_they_were)
{
    struct usage before, after;

    make_ten_calls(0);
    drop_and_publish();
    fork_once();
    (void)usage(); /* stdio allocates its buffers */
    before = usage();
    for (unsigned i = 0; i < CALLS / 10; i++) {
        make_ten_calls(i);
        if (i % (CALLS / 10 / DROPS) == 0)
            drop_and_publish();
        if (i % (CALLS / 10 / FORKS) == 0)
            fork_once();
    }
    after = usage();
    cr_expect_eq(after.descriptors, before.descriptors);
    cr_expect_eq(after.threads, before.threads);
    cr_expect_eq(after.mapped_pages, before.mapped_pages);
    cr_expect_leq(after.resident_pages, before.resident_pages + 8);
}
