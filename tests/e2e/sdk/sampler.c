/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Usage: sampler FILE SAMPLES SECONDS
 *
 * Reads the threads that are inside a handler, as FILE says (truth.h), until it
 * has so many samples or the time is up. A sample counts if the thread was
 * inside the same section of the handler before and after it. Prints one line,
 * and on stderr the first ten samples that are wrong:
 *
 *     samples N shown N none N wrong N routes N unrouted N misrouted N traces N
 *
 * shown      with the ids that the handler has
 * none       nothing is attached
 * wrong      another trace, or another span if the handler names one; or a
 *            record that is no record, or not in memory
 * routes     of those shown: http.route is the handler's
 * unrouted   it is not there, where the handler names one
 * misrouted  it is another one
 * traces     how many different traces were shown, at least
 */

#include "demo/reader/os/memory.h"
#include "demo/reader/os/tracee.h"
#include "demo/reader/report/report.h"
#include "tests/e2e/sdk/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES_MAX = 32,
    BUCKETS = 1 << 16
};

/* Only a thread that is stuck in the kernel takes so long. */
static const uint64_t STOP_LIMIT_NS = 10000000000;

static struct {
    unsigned long samples, shown, none, wrong, routes, unrouted, misrouted,
        traces;
} counts;

static struct otelread_report processes[PROCESSES_MAX];

static const struct truth *slots;

static bool is_ready(const struct otelread_report *report)
{
    return report->threads && report->threads->status == OTELREAD_THREADS_OK &&
           report->threads->has_symbol;
}

/* Finds where the threads of a process have the variable; NULL: not yet. */
static struct otelread_report *report_of(pid_t pid)
{
    struct otelread_report *report = processes;

    while (report->target.pid != pid && report->target.pid != 0)
        if (++report == processes + PROCESSES_MAX)
            return NULL;
    if (!is_ready(report)) {
        otelread_report_make(report, pid, OTELREAD_PATIENCE_LONG);
        (void)otelread_report_read_threads(report, true);
        otelread_memory_prepare(&report->target);
    }
    return is_ready(report) ? report : NULL;
}

static void print_wrong(const struct truth *truth,
                        const struct otelctx_record_head *head,
                        const char *what)
{
    static unsigned printed;

    if (printed++ >= 10)
        return;
    (void)fprintf(stderr, "%s: PID %u, thread %u, inside ", what, truth->pid,
                  truth->tid);
    for (size_t i = 0; i < 24; i++)
        (void)fprintf(stderr, "%02x%s", ((const uint8_t *)&truth->trace_id)[i],
                      i == 15 ? " span " : "");
    (void)fprintf(stderr, " %s, shows ", truth->route);
    for (size_t i = 0; i < 24; i++)
        (void)fprintf(stderr, "%02x%s", ((const uint8_t *)head)[i],
                      i == 15 ? " span " : "");
    (void)fputc('\n', stderr);
}

static void count_route(const struct truth *truth,
                        const struct otelread_thread *thread)
{
    static const struct otelread_span key = {(const uint8_t *)"http.route", 10};
    const struct otelread_span route = {
        (const uint8_t *)truth->route,
        strnlen(truth->route, sizeof(truth->route))};
    const struct otelread_node *node = thread->meaning.attributes.first;

    if (route.size == 0)
        return;
    while (node && !otelread_span_equal(node->key, key))
        node = node->next;
    if (!node) {
        counts.unrouted++;
    } else if (otelread_span_equal(node->span, route)) {
        counts.routes++;
    } else {
        counts.misrouted++;
        print_wrong(truth, &thread->record.head, "another route");
    }
}

/* Traces with equal last two bytes count once. */
static void count_trace(const struct truth *truth)
{
    static bool seen[BUCKETS];
    uint16_t bucket;

    memcpy(&bucket, truth->trace_id + 14, sizeof(bucket));
    counts.traces += !seen[bucket];
    seen[bucket] = true;
}

static bool is_none(enum otelread_thread_status status)
{
    return status == OTELREAD_THREAD_DETACHED ||
           status == OTELREAD_THREAD_INVALID ||
           status == OTELREAD_THREAD_UNTOUCHED;
}

/* Could not be read, which says nothing about the bridge. */
static bool is_unknown(enum otelread_thread_status status)
{
    return status != OTELREAD_THREAD_ATTACHED && !is_none(status) &&
           status != OTELREAD_THREAD_MALFORMED &&
           status != OTELREAD_THREAD_UNREADABLE;
}

static void count(const struct truth *truth,
                  const struct otelread_thread *thread)
{
    static const uint8_t any[8];
    const struct otelctx_record_head *const head = &thread->record.head;

    if (is_unknown(thread->status))
        return;
    counts.samples++;
    if (is_none(thread->status)) {
        counts.none++;
    } else if (thread->status != OTELREAD_THREAD_ATTACHED) {
        counts.wrong++;
        print_wrong(truth, head, "no record");
    } else if (memcmp(head->trace_id, truth->trace_id, 16) != 0 ||
               (memcmp(truth->span_id, any, 8) != 0 &&
                memcmp(head->span_id, truth->span_id, 8) != 0)) {
        counts.wrong++;
        print_wrong(truth, head, "wrong");
    } else {
        counts.shown++;
        count_trace(truth);
        count_route(truth, thread);
    }
}

/* Whether another living thread has written this slot: then nobody knows which
 * one it is about. */
static bool is_shared(const struct truth *truth)
{
    static struct {
        uint32_t pid, tid;
        bool shared;
    } owners[TRUTH_SLOTS], *owner;

    owner = &owners[truth->tid % TRUTH_SLOTS];
    if (owner->tid != truth->tid || owner->pid != truth->pid) {
        if (owner->tid != 0 &&
            syscall(SYS_tgkill, owner->pid, owner->tid, 0) == 0)
            owner->shared = true;
        owner->pid = truth->pid;
        owner->tid = truth->tid;
    }
    return owner->shared;
}

/* Copies the slot of a thread that is inside; false: it was not, all the time.
 * The sequence is read before the other fields, and again after them. */
static bool copy(const struct truth *slot, struct truth *out)
{
    const uint64_t sequence =
        __atomic_load_n(&slot->sequence, __ATOMIC_SEQ_CST);

    atomic_thread_fence(memory_order_seq_cst);
    *out = *slot;
    atomic_thread_fence(memory_order_seq_cst);
    out->sequence = sequence;
    return sequence % 2 == 1 &&
           __atomic_load_n(&slot->sequence, __ATOMIC_SEQ_CST) == sequence;
}

static void sample(const struct truth *slot)
{
    struct truth before;

    if (!copy(slot, &before) || is_shared(&before))
        return;

    struct otelread_report *const report = report_of((pid_t)before.pid);
    struct otelread_thread thread = {.tid = (pid_t)before.tid};

    if (!report)
        return;
    struct otelread_threads *const threads = report->threads;
    const struct otelread_places places = {.tls = &threads->search.tls.symbol};

    if (otelread_thread_read_stopped(
            &thread, &report->target, &places,
            (struct otelread_limit){.ns = STOP_LIMIT_NS,
                                    .busy_ns = 10ULL * STOP_LIMIT_NS})) {
        (void)fprintf(stderr, "sampler: thread %u: %s\n", before.tid,
                      thread.message);
        exit(1); /* lets it run */
    }
    (void)otelread_thread_interpret(&thread, &threads->map);
    atomic_thread_fence(memory_order_seq_cst);
    if (__atomic_load_n(&slot->sequence, __ATOMIC_SEQ_CST) == before.sequence)
        count(&before, &thread);
    otelread_thread_free(&thread);
}

static void rest(void)
{
    const struct timespec duration = {0, 100000 + rand() % 200000};

    (void)nanosleep(&duration, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fputs("Usage: sampler FILE SAMPLES SECONDS\n", stderr);
        return 2;
    }
    const int file = open(argv[1], O_RDONLY | O_CLOEXEC);
    const unsigned long enough = strtoul(argv[2], NULL, 10);
    struct otelread_tracer tracer;
    const time_t end = time(NULL) + strtol(argv[3], NULL, 10);

    slots = mmap(NULL, TRUTH_SLOTS * sizeof(*slots), PROT_READ, MAP_SHARED,
                 file, 0);
    if (file < 0 || slots == MAP_FAILED) {
        (void)fprintf(stderr, "sampler: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    otelread_tracer_begin(&tracer);
    while (counts.samples < enough && time(NULL) < end) {
        for (size_t i = 0; i < TRUTH_SLOTS; i++)
            if (__atomic_load_n(&slots[i].sequence, __ATOMIC_RELAXED) % 2 == 1)
                sample(&slots[i]);
        rest();
    }
    (void)printf("samples %lu shown %lu none %lu wrong %lu routes %lu unrouted "
                 "%lu misrouted %lu traces %lu\n",
                 counts.samples, counts.shown, counts.none, counts.wrong,
                 counts.routes, counts.unrouted, counts.misrouted,
                 counts.traces);
    return 0;
}
