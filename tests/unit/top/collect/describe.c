/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/top/collect/describe.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what /proc says ---------------------------------------------------- */

static char directory[] = "/tmp/describe-XXXXXX";
static struct otelread_target target;
static struct oteltop_process *process;

static void begin(void)
{
    cr_assert_not_null(mkdtemp(directory));
    target = (struct otelread_target){
        .pid = 4711, .command = "kworker/\xff", .memory = -1};
    target.directory = open(directory, O_PATH | O_DIRECTORY);
    process = oteltop_process_new(4711);
}

static void put(const char *name, const char *text, size_t size)
{
    const int fd =
        openat(target.directory, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    cr_assert_eq(write(fd, text, size), (ssize_t)size);
    (void)close(fd);
}

static void end(void)
{
    (void)unlinkat(target.directory, "cmdline", 0);
    (void)unlinkat(target.directory, "cgroup", 0);
    (void)close(target.directory);
    (void)rmdir(directory);
    oteltop_process_free(process);
}

TestSuite(describe, .init = begin, .fini = end);

static void expect_command(const char *arguments, size_t size,
                           const char *expected)
{
    put("cmdline", arguments, size);
    oteltop_describe_process(process, &target);
    cr_expect_str_eq(process->command, expected);
}

Test(describe, a_command_is_its_arguments_with_blanks_between)
{
    expect_command("python3\0app.py\0", 15, "python3 app.py");
    expect_command("a\0\0b\0\0\0", 7, "a  b");
    expect_command("nginx: worker", 13, "nginx: worker");
    expect_command("sh\0-c\0one\ntwo\0", 14, "sh -c one two");
    expect_command("\xff\xe6\x97\xa5", 4, "?\xe6\x97\xa5");
}

Test(describe, without_arguments_it_is_called_as_the_kernel_calls_it)
{
    expect_command("", 0, "kworker/?");
    expect_command("\0\0\0", 3, "kworker/?");
    (void)unlinkat(target.directory, "cmdline", 0);
    oteltop_describe_process(process, &target);
    cr_expect_str_eq(process->command, "kworker/?");
}

Test(describe, a_long_command_is_cut)
{
    static char arguments[100000];

    memset(arguments, 'x', sizeof(arguments));
    put("cmdline", arguments, sizeof(arguments));
    oteltop_describe_process(process, &target);
    cr_expect_gt(strlen(process->command), 100);
    cr_expect_lt(strlen(process->command), 1024);
}

static void expect_cgroup(const char *text, const char *cgroup,
                          const char *container, const char *pod)
{
    put("cgroup", text, strlen(text));
    oteltop_describe_process(process, &target);
    if (cgroup)
        cr_expect_str_eq(process->cgroup, cgroup);
    else
        cr_expect_null(process->cgroup);
    if (container)
        cr_expect_str_eq(process->container, container, "%s", text);
    else
        cr_expect_null(process->container, "%s", text);
    if (pod)
        cr_expect_str_eq(process->pod, pod, "%s", text);
    else
        cr_expect_null(process->pod, "%s", text);
}

#define DIGITS                                                                 \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

Test(describe, containers_and_pods_are_in_the_path_of_the_cgroup)
{
    expect_cgroup("0::/user.slice\n", "/user.slice", NULL, NULL);
    expect_cgroup("0::/system.slice/docker-" DIGITS ".scope\n",
                  "/system.slice/docker-" DIGITS ".scope", "0123456789ab",
                  NULL);
    expect_cgroup(
        "0::/kubepods.slice/kubepods-burstable.slice/"
        "kubepods-burstable-pod12ab_34.slice/cri-containerd-" DIGITS ".scope\n",
        "/kubepods.slice/kubepods-burstable.slice/"
        "kubepods-burstable-pod12ab_34.slice/cri-containerd-" DIGITS ".scope",
        "0123456789ab", "12ab-34");
    expect_cgroup("0::/kubepods/burstable/pod12ab-34/" DIGITS "\n",
                  "/kubepods/burstable/pod12ab-34/" DIGITS, "0123456789ab",
                  "12ab-34");
    expect_cgroup("0::/" DIGITS "0\n", "/" DIGITS "0", NULL, NULL);
    expect_cgroup("0::/a-" DIGITS "/b-" DIGITS ".scope\n",
                  "/a-" DIGITS "/b-" DIGITS ".scope", "0123456789ab", NULL);
    expect_cgroup("0::/kubepods.slice\n", "/kubepods.slice", NULL, NULL);
    expect_cgroup("4:cpu:/a\n0::/b\n", "/b", NULL, NULL);
    expect_cgroup("4:cpu:/a\n3:memory:/c\n", "/a", NULL, NULL);
    expect_cgroup("0::/a\xff"
                  "b\n",
                  "/a?b", NULL, NULL);
    expect_cgroup("", NULL, NULL, NULL);
}

/* ---- process contexts --------------------------------------------------- */

Test(describe, a_process_without_a_context_says_why)
{
    const struct otelread_report report = {.status = OTELREAD_NO_PERMISSION};

    process->is_recorded = true;
    cr_expect_eq(oteltop_describe_context(process, &report), 0);
    cr_expect_str_eq(process->context, "no_permission");
    cr_expect_eq(process->resource.count, 0);
    cr_expect_not(process->is_recorded, "the recording has it again");
}

#define SPAN(text)                                                             \
    {                                                                          \
        (const uint8_t *)(text), sizeof(text) - 1                              \
    }

Test(describe, values_of_a_resource_become_texts)
{
    struct otelread_node nodes[] = {
        {.key = SPAN("text"), .kind = OTELREAD_STRING, .span = SPAN("shop")},
        {.key = SPAN("truth"), .kind = OTELREAD_BOOL, .truth = true},
        {.key = SPAN("number"), .kind = OTELREAD_INT, .integer = -5},
        {.key = SPAN("real"), .kind = OTELREAD_DOUBLE, .real = 0.5},
        {.key = SPAN("list"), .kind = OTELREAD_ARRAY},
        {.key = SPAN("k8s.pod.name"),
         .kind = OTELREAD_STRING,
         .span = SPAN("shop-1")},
    };
    const size_t count = sizeof(nodes) / sizeof(nodes[0]);
    struct otelread_context context = {.status = OTELREAD_OK};
    struct otelread_report report = {.status = OTELREAD_OK};

    for (size_t i = 1; i < count; i++)
        nodes[i - 1].next = &nodes[i];
    context.decoded.resource.first = &nodes[0];
    report.contexts.list = &context;
    report.contexts.count = 1;
    process->pod = strdup("12ab-34");
    cr_expect_eq(oteltop_describe_context(process, &report), 0);
    cr_expect_str_eq(process->context, "ok");
    static const char *const expected[] = {"shop", "true", "-5",
                                           "0.5",  "...",  "shop-1"};
    cr_assert_eq(process->resource.count, count);
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(process->resource.list[i].value, expected[i]);
    cr_expect_str_eq(process->pod, "shop-1");
}

/* ---- spans -------------------------------------------------------------- */

static struct otelread_thread thread;
static struct oteltop_span span;

Test(describe, a_record_has_ids_and_flags)
{
    thread.status = OTELREAD_THREAD_ATTACHED;
    memset(thread.record.head.trace_id, 0xab, 16);
    memset(thread.record.head.span_id, 0xcd, 8);
    thread.record.head.trace_flags = 3;
    cr_expect_null(oteltop_describe_span(&span, &thread, true));
    cr_expect_eq(span.trace_id[15], 0xab);
    cr_expect_eq(span.span_id[7], 0xcd);
    cr_expect_eq(span.flags, 3);
    cr_expect_eq(span.attributes.count, 0);
}

Test(describe, every_other_status_is_a_reason)
{
    thread.storages.ring_status = OTELREAD_SLOT_ATTACHED; /* not asked */
    for (int i = OTELREAD_THREAD_DETACHED; i <= OTELREAD_THREAD_NO_TLS; i++) {
        thread.status = (enum otelread_thread_status)i;
        cr_expect_str_eq(oteltop_describe_span(&span, &thread, true),
                         otelread_thread_status_name(thread.status));
    }
}

Test(describe, a_slot_has_ids_as_numbers)
{
    static const uint8_t expected[] = {1, 2,  3,  4,  5,  6,  7,  8,
                                       9, 10, 11, 12, 13, 14, 15, 16};

    thread.status = OTELREAD_THREAD_NO_TLS;
    thread.storages.ring_status = OTELREAD_SLOT_ATTACHED;
    thread.storages.ring.trace_id_high = 0x0102030405060708;
    thread.storages.ring.trace_id_low = 0x090a0b0c0d0e0f10;
    thread.storages.ring.span_id = 0x0102030405060708;
    cr_expect_null(oteltop_describe_span(&span, &thread, false));
    cr_expect_arr_eq(span.trace_id, expected, 16);
    cr_expect_arr_eq(span.span_id, expected, 8);
    thread.storages.ring_status = OTELREAD_SLOT_STALE;
    cr_expect_str_eq(oteltop_describe_span(&span, &thread, false), "stale");
}

Test(describe, a_profilers_variable_has_half_a_trace_id)
{
    thread.storages.profiler_status = OTELREAD_PROFILED_ATTACHED;
    thread.storages.profiler.root_span_id = 0x11;
    thread.storages.profiler.span_id = 0x22;
    cr_expect_null(oteltop_describe_span(&span, &thread, false));
    cr_expect_eq(span.trace_id[7], 0);
    cr_expect_eq(span.trace_id[15], 0x11);
    cr_expect_eq(span.span_id[7], 0x22);
    thread.storages.profiler_status = OTELREAD_PROFILED_TORN;
    cr_expect_str_eq(oteltop_describe_span(&span, &thread, false), "torn");
}
