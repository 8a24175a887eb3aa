/* SPDX-License-Identifier: Apache-2.0 */

/* Targets with memory that never answers: the reader ends in time, and stops no
 * thread for long. */

#include "tests/e2e/reader/reader_silent.h"

TestSuite(reader_silent, .timeout = 300);

/* What a target tells its test. */
static volatile struct {
    pid_t tid;
    long tracer; /* of thread tid, at the read of its record */
    bool asked;  /* a read has begun */
    bool others; /* the other threads have contexts */
} * shared;

static void need_faults(void)
{
    const int fd = fault_descriptor();

    if (fd < 0)
        cr_skip_test("machine: no userfaultfd(2)");
    close(fd);
    shared = share(sizeof(*shared));
}

static void need_fuse(void)
{
    if (access("/dev/fuse", R_OK | W_OK) != 0)
        cr_skip_test("machine: no /dev/fuse");
    shared = share(sizeof(*shared));
}

/* ---- processes of the reader -------------------------------------------- */

/* Makes this process the parent of those that a killed reader leaves behind. */
static void adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void lead_group(void)
{
    setpgid(0, 0);
}

#define RUN_GROUP(...) RUN_WITH(lead_group, __VA_ARGS__)

/* Have the reader and the processes that it started ended? */
static bool is_group_gone(pid_t group)
{
    while (waitpid(-group, NULL, WNOHANG) > 0)
        ;
    return kill(-group, 0) != 0 && errno == ESRCH;
}

static void expect_target_busy(struct target target)
{
    EXPECT_STATUS(RUN_GROUP("--json", number(target.pid)), 8);
    EXPECT_JSON("length == 1 and .[0].status == \"busy\" and "
                ".[0].message == \"its memory does not answer\" and "
                ".[0].contexts == []");
    EVENTUALLY(is_group_gone(last.pid));
    target_end(&target);
}

static void expect_busy(target_body *body)
{
    expect_target_busy(target_start(body));
}

/* Does the file have this name in maps? Seen from within a chroot, a file of
 * another root has a longer name. */
static bool maps_have_the_name(pid_t pid)
{
    char path[64], line[512];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps))
        found = found || strstr(line, " /memfd:OTEL_CTX\n");
    if (maps)
        fclose(maps);
    return found;
}

/* ---- the process context ------------------------------------------------ */

static void header_never_brought(int ready, int commands)
{
    (void)commands;
    never_bring(map_page(OTELCTX_MAPPING_NAME));
    say_ready(ready);
}

static void publish_payload_at(const void *payload)
{
    publish_shop()->header.payload = (uintptr_t)payload;
}

static void payload_never_brought(int ready, int commands)
{
    (void)commands;
    publish_payload_at(page_never_brought());
    say_ready(ready);
}

static void header_of_fuse(int ready, int commands)
{
    (void)commands;
    map_fuse("/memfd:OTEL_CTX", 0, FUSE_READS_KILLABLE);
    say_ready(ready);
}

static void payload_of_fuse(int ready, int commands)
{
    (void)commands;
    publish_payload_at(map_fuse("/file", PAGE, FUSE_READS_KILLABLE));
    say_ready(ready);
}

static void payload_of_unkillable_fuse(int ready, int commands)
{
    (void)commands;
    publish_payload_at(map_fuse("/file", PAGE, FUSE_READS_UNKILLABLE));
    say_ready(ready);
}

Test(reader_silent, a_header_that_never_answers_is_busy, .init = need_faults)
{
    expect_busy(header_never_brought);
}

Test(reader_silent, a_payload_that_never_answers_is_busy, .init = need_faults)
{
    expect_busy(payload_never_brought);
}

Test(reader_silent, a_header_in_a_file_of_silent_fuse_is_busy,
     .init = need_fuse)
{
    const struct target target = target_start(header_of_fuse);

    if (maps_have_the_name(target.pid)) {
        expect_target_busy(target);
        return;
    }
    target_end(&target);
    cr_skip_test("machine: in a chroot no file has this name");
}

Test(reader_silent, a_payload_in_a_file_of_silent_fuse_is_busy,
     .init = need_fuse)
{
    expect_busy(payload_of_fuse);
}

Test(reader_silent, the_reader_ends_even_when_a_read_cannot_be_killed,
     .init = need_fuse)
{
    const struct target target = target_start(payload_of_unkillable_fuse);

    adopt();
    EXPECT_STATUS(RUN_GROUP("--json", number(target.pid)), 8);
    target_end(&target); /* ends the FUSE server, and so the read */
    EVENTUALLY(is_group_gone(last.pid));
}

/* ---- its threads -------------------------------------------------------- */

static void *attach_and_wait(void *record)
{
    attach(record);
    shared->tid = gettid_raw();
    for (;;)
        pause();
    return NULL;
}

static void *attach_own(void *unused)
{
    ATTACH(0x4711);
    shared->others = true;
    for (;;)
        pause();
    return unused;
}

/* A thread with that record, and one with a record in ordinary memory. */
static void start_threads(void *record)
{
    pthread_t thread;

    announce();
    pthread_create(&thread, NULL, attach_and_wait, record);
    pthread_create(&thread, NULL, attach_own, NULL);
    while (shared->tid == 0 || !shared->others)
        sleep_ms(1);
}

static void record_never_brought(int ready, int commands)
{
    void *const record = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int faults = never_bring(record);
    struct uffd_msg message;

    (void)commands;
    start_threads(record);
    say_ready(ready);
    if (read(faults, &message, sizeof(message)) == sizeof(message)) {
        shared->tracer = status_number(getpid(), shared->tid, "TracerPid:");
        shared->asked = true;
    }
}

static void record_of_fuse(int ready, int commands)
{
    (void)commands;
    start_threads(map_fuse("/file", PAGE, FUSE_READS_KILLABLE));
    say_ready(ready);
}

static void library_of_fuse(int ready, int commands)
{
    (void)commands;
    map_fuse("/library.so", 0, FUSE_READS_KILLABLE);
    with_worker(ready, commands);
}

static void expect_busy_thread(const struct target *target, const char *option)
{
    EXPECT_STATUS(RUN_GROUP("--json", "--threads", option, number(target->pid)),
                  8);
    EXPECT_JSON(".[0].status == \"ok\" and "
                ".[0].thread_context.status == \"ok\" and "
                "([.[0].threads[].status] | sort) == "
                "[\"attached\", \"busy\", \"detached\"]");
    EXPECT_JSON(".[0].threads[] | select(.status == \"busy\") | .message == "
                "\"its memory does not answer\"");
    EXPECT_TEXT(last.err, ": its memory does not answer\n");
    EVENTUALLY(is_group_gone(last.pid));
    EVENTUALLY(state_of(target->pid, shared->tid) == 'S');
    cr_expect_eq(status_number(target->pid, shared->tid, "TracerPid:"), 0);
}

Test(reader_silent, a_thread_runs_while_the_reader_waits_for_its_record,
     .init = need_faults)
{
    const struct target target = target_start(record_never_brought);

    expect_busy_thread(&target, "--json");
    EVENTUALLY(shared->asked);
    cr_expect_eq(shared->tracer, 0, "it was held by %ld", shared->tracer);
    target_end(&target);
}

Test(reader_silent, a_record_in_a_file_of_silent_fuse_is_busy,
     .init = need_fuse)
{
    const struct target target = target_start(record_of_fuse);

    expect_busy_thread(&target, "--json");
    target_end(&target);
}

Test(reader_silent, a_record_that_never_answers_is_busy_with_no_stop_too,
     .init = need_faults)
{
    const struct target target = target_start(record_never_brought);

    expect_busy_thread(&target, "--no-stop");
    target_end(&target);
}

Test(reader_silent, a_library_in_a_file_of_silent_fuse_is_busy,
     .init = need_fuse)
{
    const struct target target = target_start(library_of_fuse);

    EXPECT_STATUS(RUN_GROUP("--json", "--threads", number(target.pid)), 8);
    EXPECT_JSON(".[0].status == \"ok\" and "
                ".[0].thread_context.status == \"busy\" and "
                ".[0].thread_context.message == "
                "\"its libraries: its memory does not answer\" and "
                ".[0].threads == []");
    EVENTUALLY(is_group_gone(last.pid));
    target_end(&target);
}

/* ---- other processes ---------------------------------------------------- */

static void shop(int ready, int commands)
{
    (void)commands;
    publish_shop();
    say_ready(ready);
}

/* Does the last output give the process this status? */
static bool is_said(const struct target *target, const char *status)
{
    char filter[128];

    snprintf(filter, sizeof(filter), "any(.pid == %d and .status == \"%s\")",
             (int)target->pid, status);
    return jq_says(last.out, filter);
}

Test(reader_silent, all_reads_the_processes_after_it, .init = need_faults)
{
    const struct target silent[] = {
        target_start(header_never_brought),
        target_start(payload_never_brought),
        target_start(header_never_brought),
    };
    const struct target other = target_start(shop);

    EXPECT_STATUS(RUN_GROUP("--all", "--json"), 0);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(is_said(&silent[i], "busy"), "%s", last.out);
        target_end(&silent[i]);
    }
    cr_expect(is_said(&other, "ok"), "%s", last.out);
    EVENTUALLY(is_group_gone(last.pid));
    target_end(&other);
}

Test(reader_silent, watch_follows_the_other_processes, .init = need_faults)
{
    const struct target silent = target_start(header_never_brought);
    const struct target other = target_start(shop);
    struct reader reader =
        WATCH("--json", number(silent.pid), number(other.pid));

    reader_expect(&reader, &reader.out, "\"busy\"");
    reader_expect(&reader, &reader.out, "\"shop\"");
    target_end(&other);
    reader_expect(&reader, &reader.out, "\"no_process\"");
    target_end(&silent);
    reader_wait(&reader);
    reader_close(&reader);
}

/* ---- the reader --------------------------------------------------------- */

static void tell_of_fault(int ready, int commands)
{
    const int faults = never_bring(map_page(OTELCTX_MAPPING_NAME));
    struct uffd_msg message;

    (void)commands;
    say_ready(ready);
    shared->asked = read(faults, &message, sizeof(message)) == sizeof(message);
}

Test(reader_silent, a_reader_that_is_killed_leaves_no_process_behind,
     .init = need_faults)
{
    const struct target target = target_start(tell_of_fault);
    adopt();
    struct reader reader = reader_start(lead_group, WORDS(number(target.pid)));

    EVENTUALLY(shared->asked);
    kill(reader.pid, SIGKILL);
    cr_assert_eq(waitpid(reader.pid, NULL, 0), reader.pid);
    EVENTUALLY(is_group_gone(reader.pid));
    reader_close(&reader);
    target_end(&target);
}

/* ---- memory that answers ------------------------------------------------ */

/* A new mapping that nobody has touched yet. */
static void *map_untouched(const void *bytes, size_t size)
{
    const int fd = memfd_create("untouched", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        _exit(90);
    void *const page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return page;
}

static void everything_untouched(int ready, int commands)
{
    struct record record;

    (void)commands;
    shared->tid = 0;
    record_fill(&record, 0x4711, ROUTE, sizeof(ROUTE) - 1);
    start_threads(map_untouched(&record, sizeof(record)));
    say_ready(ready);
}

static void payload_untouched(int ready, int commands)
{
    (void)commands;
    publish_payload_at(map_untouched(SHOP, sizeof(SHOP) - 1));
    say_ready(ready);
}

static void payload_protected(int ready, int commands)
{
    char *const page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)commands;
    memcpy(page, SHOP, sizeof(SHOP) - 1);
    publish_payload_at(page);
    mprotect(page, PAGE, PROT_NONE);
    say_ready(ready);
}

Test(reader_silent, a_record_that_is_not_in_memory_yet_is_read,
     .init = need_faults)
{
    const struct target target = target_start(everything_untouched);

    EXPECT_STATUS(RUN("--json", "--threads", number(target.pid)), 0);
    EXPECT_JSON("[.[0].threads[] | select(.status == \"attached\" and "
                ".span_id == \"0000000000004711\")] | length == 2");
    target_end(&target);
}

Test(reader_silent, a_payload_that_is_not_in_memory_yet_is_read)
{
    EXPECT_STATUS(run_on(payload_untouched, "--json"), 0);
    EXPECT_JSON(".[0].contexts | length == 1");
}

Test(reader_silent, a_payload_that_its_process_may_not_read_is_invalid)
{
    EXPECT_STATUS(run_on(payload_protected, "--json"), 7);
    EXPECT_TEXT(last.err, ") cannot be read");
}
