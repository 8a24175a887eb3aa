/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A thread under the shim attaches contexts, as fast as it can and with pauses
 * that are shorter than a read. Meanwhile a reader reads the thread's slot of
 * the ring as fast as it can, from another process or from another thread. The
 * three numbers of a context are equal, so that a reader notices a mixture of
 * two contexts. OTELCTX_TEST_READS sets the number of reads from outside.
 */

#include "tests/e2e/ring.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "shim/otelctx.h"

enum {
    READS = 2000000,
    READS_INSIDE = 100000000,
    PAIRS = 64 /* reads in one system call, each of two looks at the slot */
};

static atomic_bool is_over;
static atomic_int writer;

static void *write_on(void *unused)
{
    writer = gettid();
    for (uint64_t number = 1; !is_over; number++) {
        const uint64_t ids[3] = {number, number, number};

        if (otelctx_attach((const uint8_t *)ids, (const uint8_t *)(ids + 2), 1))
            _exit(1);
        for (volatile unsigned i = number % 4096 / 2; i > 0; i--)
            ;
    }
    return unused;
}

static pid_t start_writer(void)
{
    const pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        write_on(NULL);
    }
    return pid;
}

static bool is_mixed(const struct otelctx_ring_slot *slot)
{
    return slot->trace_id_high != slot->trace_id_low ||
           slot->trace_id_low != slot->span_id;
}

/* How the reads ended. */
struct reads {
    unsigned long whole, busy, mixed, changes;
    unsigned long mixed_looks; /* by a reader that ignores the protocol */
    uint64_t last;
};

static void judge(struct reads *reads, const struct otelctx_ring_slot look[2],
                  uint32_t thread)
{
    reads->mixed_looks += is_mixed(&look[1]);
    if (memcmp(&look[0], &look[1], sizeof(look[0])) != 0 ||
        look[1].lock & OTELCTX_RING_IN_USE ||
        otelctx_ring_thread(look[1].lock) != thread) {
        reads->busy++;
        return;
    }
    reads->whole++;
    reads->mixed += is_mixed(&look[1]);
    reads->changes += look[1].span_id != reads->last;
    reads->last = look[1].span_id;
}

static void read_some(pid_t pid, const struct ring *ring, struct reads *reads)
{
    static struct otelctx_ring_slot looks[PAIRS][2];
    struct iovec local = {looks, sizeof(looks)}, remote[2 * PAIRS];

    for (unsigned i = 0; i < 2 * PAIRS; i++)
        remote[i] = (struct iovec){(void *)(uintptr_t)ring_slot_of(ring, pid),
                                   sizeof(looks[0][0])};
    STEP_ASSERT(process_vm_readv(pid, &local, 1, remote,
                                 (unsigned long)2 * PAIRS, 0) == sizeof(looks),
                "no slot");
    for (unsigned i = 0; i < PAIRS; i++)
        judge(reads, looks[i], (uint32_t)pid);
}

Test(ring_torn, no_read_from_outside_is_mixed, .timeout = 3600)
{
    const char *const text = getenv("OTELCTX_TEST_READS");
    const unsigned long enough = text ? strtoul(text, NULL, 10) : READS;
    const pid_t pid = start_writer();
    struct reads reads = {0};
    struct ring ring;

    while (ring_find(pid, &ring) == 0)
        ;
    while (reads.whole + reads.busy < enough || reads.mixed_looks == 0 ||
           reads.changes < 1000)
        read_some(pid, &ring, &reads);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    cr_expect_eq(reads.mixed, 0, "%lu of %lu", reads.mixed, reads.whole);
    cr_expect_gt(reads.busy, 0);
    cr_log_info("%lu whole, %lu busy, %lu contexts, %lu mixed looks",
                reads.whole, reads.busy, reads.changes, reads.mixed_looks);
}

Test(ring_torn, no_read_of_another_thread_is_mixed, .timeout = 3600)
{
    unsigned long whole = 0, busy = 0, mixed = 0, changes = 0;
    uint64_t last = 0, numbers[3];
    struct otelctx_ids ids;
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, write_on, NULL), 0);
    while (!writer || otelctx_get_by_tid(writer, &ids) == -ESRCH)
        ;
    while (whole + busy < READS_INSIDE || changes < 1000 || busy == 0) {
        if (otelctx_get_by_tid(writer, &ids)) {
            busy++;
            continue;
        }
        whole++;
        memcpy(numbers, &ids, sizeof(numbers));
        mixed += numbers[0] != numbers[1] || numbers[1] != numbers[2];
        changes += numbers[2] != last;
        last = numbers[2];
    }
    is_over = true;
    pthread_join(thread, NULL);
    cr_expect_eq(mixed, 0, "%lu of %lu", mixed, whole);
    cr_log_info("%lu whole, %lu busy, %lu contexts", whole, busy, changes);
}
