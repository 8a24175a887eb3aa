/* SPDX-License-Identifier: Apache-2.0 */

/*
 * otelctx-read --threads: the ring and the profiler's variable beside TLS. The
 * targets write them by hand, after the pseudocode of wire/ring.h's source.
 */

#include "shim/wire/profiler.h"
#include "shim/wire/ring.h"
#include "tests/e2e/reader/reader_threads.h"

#include <sched.h>
#include <sys/wait.h>

TestSuite(reader_storages, .timeout = 600);

/* "context_tls_v1", exported by this program (-rdynamic). */
_Thread_local volatile struct otelctx_profiler_context context_tls_v1;

#define CAPACITY 64

struct ring {
    struct otelctx_ring_header header;
    volatile struct otelctx_ring_slot slots[];
};

static struct ring *ring_make(uint32_t capacity)
{
    const size_t size =
        sizeof(struct ring) + capacity * sizeof(struct otelctx_ring_slot);
    struct ring *const ring = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (ring == MAP_FAILED)
        _exit(99);
    /* Another flag than its neighbours': the kernel does not merge them. */
    (void)madvise(ring, size, MADV_DONTDUMP);
    ring->header = (struct otelctx_ring_header){
        OTELCTX_RING_MAGIC, OTELCTX_RING_VERSION, capacity, 32, {0}};
    return ring;
}

/* Write a context to the slot of a thread; wire/ring.h describes `lock`. */
static void slot_write(struct ring *ring, uint64_t lock, uint32_t tid,
                       uint64_t id)
{
    volatile struct otelctx_ring_slot *const slot =
        &ring->slots[tid % ring->header.capacity];

    slot->trace_id_high = id;
    slot->trace_id_low = id;
    slot->span_id = id;
    slot->lock = lock;
}

static uint64_t lock_of(pid_t tid)
{
    return (uint64_t)tid << 32 | 2 * OTELCTX_RING_SEQUENCE;
}

static void attach_ring(struct ring *ring, uint64_t id)
{
    slot_write(ring, lock_of(gettid_raw()), (uint32_t)gettid_raw(), id);
}

static void attach_profiler(uint64_t root, uint64_t span)
{
    context_tls_v1.checksum = 0;
    context_tls_v1.span_id = span;
    context_tls_v1.root_span_id = root;
    context_tls_v1.tags[0] = 7;
    context_tls_v1.checksum = otelctx_profiler_checksum(span, root);
}

/* Runs otelctx-read on a new target. */
static int run_threads(target_body *body, const char *option)
{
    const struct target target = target_start(body);
    const int status = RUN("--threads", option, number(target.pid));

    target_end(&target);
    return status;
}

/* ---- all of them -------------------------------------------------------- */

static void with_all(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(0x4711);
    attach_ring(ring_make(CAPACITY), 0x4711);
    attach_profiler(0x4711, 0x4711);
    say_ready(ready);
}

Test(reader_storages, all_storages_are_shown_side_by_side)
{
    EXPECT_STATUS(run_threads(with_all, "--json"), 0);
    cr_expect_str_empty(last.err);
    EXPECT_JSON(".[0].ring | .status == \"ok\" and .capacity == 64 and "
                ".named == false and .ended == []");
    EXPECT_JSON(".[0].thread_context.profiler.object | "
                "endswith(\"reader_storages\")");
    EXPECT_JSON(
        ".[0] | .pid as $pid | .threads[0] | .status == \"attached\" "
        "and .ring == {\"status\": \"attached\", \"slot\": ($pid % 64), "
        "\"owner\": $pid, \"trace_id\": "
        "\"00000000000047110000000000004711\", "
        "\"span_id\": \"0000000000004711\"}");
    EXPECT_JSON(".[0].threads[0].profiler == {\"status\": \"attached\", "
                "\"root_span_id\": \"0000000000004711\", \"span_id\": "
                "\"0000000000004711\", \"tags\": [7,0,0,0,0,0,0,0,0,0]}");
    EXPECT_JSON(".[0].threads[0] | has(\"disagreement\") | not");
}

Test(reader_storages, the_text_shows_them_below_the_thread)
{
    EXPECT_STATUS(run_threads(with_all, "--"), 0);
    EXPECT_TEXT(last.out, "\n  profiler   ");
    EXPECT_TEXT(last.out, "\n  ring       ");
    EXPECT_TEXT(last.out, ", 64 slots\n");
    EXPECT_TEXT(last.out, "\n      ring      attached  trace "
                          "00000000000047110000000000004711 span "
                          "0000000000004711\n");
    EXPECT_TEXT(last.out, "\n      profiler  attached  root 0000000000004711 "
                          "span 0000000000004711 tags 7 0 0 0 0 0 0 0 0 0\n");
}

static void ring_only(int ready, int commands)
{
    (void)commands;
    attach_ring(ring_make(CAPACITY), 0x4711);
    say_ready(ready);
}

Test(reader_storages, a_ring_is_read_without_process_context_and_without_stops)
{
    EXPECT_STATUS(run_threads(ring_only, "--json"), 5);
    EXPECT_JSON(".[0] | .status == \"no_context\" and .ring.status == \"ok\" "
                "and (.threads[0] | .status == \"no_tls\" and .ring.span_id == "
                "\"0000000000004711\" and (has(\"stopped_ns\") | not))");
    EXPECT_STATUS(run_threads(ring_only, "--"), 5);
    EXPECT_TEXT(last.out, "  no_tls\n      ring      attached");
}

static void not_announced(int ready, int commands)
{
    publish_shop();
    ring_only(ready, commands);
}

Test(reader_storages, with_a_ring_threads_are_stopped_only_for_announced_tls)
{
    EXPECT_STATUS(run_threads(not_announced, "--json"), 0);
    EXPECT_JSON(".[0] | .thread_context.status == \"not_announced\" and "
                "(.threads[0] | .ring.status == \"attached\" and "
                ".status == \"no_tls\" and (has(\"stopped_ns\") | not))");
}

/* ---- the ring ----------------------------------------------------------- */

static void odd(int ready, int commands)
{
    struct ring *const ring = ring_make(CAPACITY);

    (void)commands;
    announce();
    slot_write(ring, OTELCTX_RING_SEQUENCE, (uint32_t)getpid(), 0x4711);
    say_ready(ready);
}

Test(reader_storages, a_slot_with_an_odd_sequence_is_busy)
{
    EXPECT_STATUS(run_threads(odd, "--json"), 0);
    EXPECT_JSON(".[0].threads[0].ring | .status == \"busy\" and "
                "(has(\"span_id\") | not)");
}

static struct ring *shared_slot;

static void *collide(void *ready)
{
    attach_ring(shared_slot, 0x4712);
    say_ready(*(int *)ready);
    for (;;)
        pause();
    return NULL;
}

/* One slot for two threads, last written by the worker. */
static void colliding(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    shared_slot = ring_make(1);
    pthread_create(&thread, NULL, collide, &ready);
    for (;;)
        pause();
}

Test(reader_storages, a_slot_of_two_threads_has_the_last_writers_context)
{
    EXPECT_STATUS(run_threads(colliding, "--json"), 0);
    EXPECT_JSON(
        ".[0].threads as [$main, $worker] | $main.ring.status == "
        "\"collision\" and $main.ring.owner == $worker.tid and "
        "$worker.ring.status == \"attached\" and .[0].ring.ended == []");
}

static void *attach_and_end(void *ring)
{
    attach_ring(ring, 0x4712);
    return NULL;
}

/* Leave the slot of a thread that ended; with capacity 1 it is also the main
 * thread's. */
static void leave(int ready, uint32_t capacity)
{
    struct ring *const ring = ring_make(capacity);
    pthread_t thread;

    announce();
    pthread_create(&thread, NULL, attach_and_end, ring);
    pthread_join(thread, NULL);
    say_ready(ready);
}

static void leaving(int ready, int commands)
{
    (void)commands;
    leave(ready, 65536);
}

static void leaving_in_place(int ready, int commands)
{
    (void)commands;
    leave(ready, 1);
}

Test(reader_storages, the_slot_of_a_thread_that_ended_is_reported)
{
    EXPECT_STATUS(run_threads(leaving, "--json"), 0);
    EXPECT_JSON(".[0].ring.ended | length == 1 and .[0].owner % 65536 == "
                ".[0].slot and .[0].span_id == \"0000000000004712\"");
    EXPECT_STATUS(run_threads(leaving, "--"), 0);
    EXPECT_TEXT(last.out,
                "\n  ring slots of threads that have ended\n    slot ");
    EXPECT_STATUS(run_threads(leaving_in_place, "--json"), 0);
    EXPECT_JSON(".[0].threads[0].ring | .status == \"stale\" and "
                ".span_id == \"0000000000004712\"");
}

/* The process has pid 1 in its own namespace, and slot 1. */
static void nested(int ready, int commands)
{
    (void)commands;
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 &&
        unshare(CLONE_NEWPID) != 0) {
        say_ready(ready);
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        announce();
        if (getpid() != 1)
            _exit(88);
        attach_ring(ring_make(CAPACITY), 0x4711);
        say_ready(ready);
        for (;;)
            pause();
    }
    (void)waitpid(child, NULL, 0);
}

static pid_t child_of(pid_t parent)
{
    char path[64];
    int child = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
             (int)parent);
    FILE *const file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

Test(reader_storages, a_slot_is_found_by_the_thread_id_in_its_own_namespace)
{
    const struct target target = target_start(nested);
    const pid_t child = child_of(target.pid);

    if (child == 0) {
        target_end(&target);
        cr_skip_test("machine: it does not let us have a pid namespace, or "
                     "does not tell children");
    }
    EXPECT_STATUS(RUN("--threads", "--json", number(child)), 0);
    EXPECT_JSON(".[0].threads[0].ring | .status == \"attached\" and "
                ".slot == 1 and .owner == 1");
    kill(child, SIGKILL);
    target_end(&target);
}

static void forbidden(int ready, int commands)
{
    ring_only(ready, commands);
    for (;;)
        pause();
}

static void become_nobody(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(94);
}

Test(reader_storages, a_ring_that_may_not_be_read_is_no_permission)
{
    if (geteuid() != 0)
        cr_skip_test("machine: it takes root");
    const struct target target = target_start(forbidden);

    EXPECT_STATUS(
        RUN_WITH(become_nobody, "--threads", "--json", number(target.pid)), 4);
    EXPECT_JSON(".[0] | .status == \"no_permission\" and .threads == []");
    target_end(&target);
}

/* ---- the profiler's variable -------------------------------------------- */

static void torn(int ready, int commands)
{
    (void)commands;
    announce();
    attach_profiler(1, 2);
    context_tls_v1.span_id = 3;
    say_ready(ready);
}

static void cleared(int ready, int commands)
{
    (void)commands;
    announce();
    attach_profiler(0, 0);
    say_ready(ready);
}

Test(reader_storages, a_wrong_checksum_is_reported)
{
    EXPECT_STATUS(run_threads(torn, "--json"), 0);
    EXPECT_JSON(".[0].threads[0].profiler == {\"status\": \"torn\"}");
    EXPECT_STATUS(run_threads(cleared, "--json"), 0);
    EXPECT_JSON(".[0].threads[0].profiler == {\"status\": \"detached\"}");
}

/* ---- storages that disagree --------------------------------------------- */

static void disagreeing(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(0x4711);
    attach_ring(ring_make(CAPACITY), 0x4712);
    attach_profiler(0x4711, 0x4711);
    say_ready(ready);
}

static void detached_in_one(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(0x4711);
    attach_ring(ring_make(CAPACITY), 0);
    say_ready(ready);
}

static void never_written(int ready, int commands)
{
    (void)commands;
    announce();
    ATTACH(0x4711);
    ring_make(CAPACITY);
    say_ready(ready);
}

Test(reader_storages, storages_that_disagree_are_reported)
{
    EXPECT_STATUS(run_threads(disagreeing, "--"), 0);
    EXPECT_TEXT(last.out,
                "\n      (storages disagree: tls trace "
                "00000000000047110000000000004711 span 0000000000004711; ring "
                "trace 00000000000047120000000000004712 span 0000000000004712; "
                "profiler trace ...0000000000004711 span 0000000000004711)\n");
    EXPECT_STATUS(run_threads(detached_in_one, "--json"), 0);
    EXPECT_JSON(".[0].threads[0].disagreement | endswith(\"; ring none\")");
    EXPECT_STATUS(run_threads(never_written, "--json"), 0);
    EXPECT_JSON(".[0].threads[0] | has(\"disagreement\") | not");
}

/* ---- --watch ------------------------------------------------------------ */

/* Each command but q attaches another context. */
static void changing(int ready, int commands)
{
    struct ring *const ring = ring_make(CAPACITY);
    char command;

    publish_shop();
    say_ready(ready);
    while (read(commands, &command, 1) == 1 && command != 'q')
        attach_ring(ring, (uint64_t)command);
    _exit(0);
}

Test(reader_storages, watch_shows_a_change_in_the_ring)
{
    const struct target target = target_start(changing);
    struct reader reader = WATCH("--threads", "--json", number(target.pid));

    reader_expect(&reader, &reader.out, "\"detached\"");
    target_tell(&target, 'a');
    reader_expect(&reader, &reader.out, "\"span_id\":\"0000000000000061\"");
    target_tell(&target, 'b');
    reader_expect(&reader, &reader.out, "\"span_id\":\"0000000000000062\"");
    target_tell(&target, 'q');
    cr_assert_eq(reader_finish(reader), 0, "%s", last.err);
    EXPECT_JSON("[.[] | .threads[]? | .ring.span_id] == [null, "
                "\"0000000000000061\", \"0000000000000062\"]");
    target_end(&target);
}
