/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Single-steps a publisher through publish, update and drop. After every
 * instruction a reader reads the publisher's memory from outside, and must find
 * one of the published contexts or none: never a mixture, never a half.
 */

#include "tests/e2e/step.h"

#include "shim/process/publication.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Shared by parent and child. */
struct shared {
    struct otelctx_publication context;
    uint8_t *room;
};
static struct shared *shared;

/* What the reader saw, and which instructions were executed. */
struct trace {
    unsigned steps;
    uint64_t page;         /* of the context; it may be unmapped again */
    unsigned absent, zero; /* steps without a context, with timestamp 0 */
    unsigned seen[3];      /* of each size of payload */
    unsigned calls, zero_calls, unready_calls; /* system calls; in the zero
                                                  window; naming too early */
    bool signed_early; /* the draft's readers would have seen a half */
    unsigned fences;   /* full fences; the header before each */
    struct otelctx_header at_fence[4], at_call; /* before the last call */
};

enum {
    FIRST = 1,
    SECOND = 2
}; /* payloads: that many bytes of that value */

static void write_room(size_t size)
{
    struct otelctx_failure failure;

    if (otelctx_publication_room(&shared->context, size, 4096, &shared->room,
                                 &failure))
        _exit(1);
    memset(shared->room, (int)size, size);
}

static void commit(size_t size, uint64_t now_ns)
{
    struct otelctx_failure failure;

    otelctx_publication_commit(&shared->context, shared->room, size, now_ns);
    if (otelctx_publication_name(&shared->context, &failure))
        _exit(1);
}

static void run_publish(void)
{
    write_room(FIRST);
    step_begin();
    commit(FIRST, 10);
    step_end();
}

static void run_update(void)
{
    write_room(FIRST);
    commit(FIRST, 10);
    write_room(SECOND);
    step_begin();
    commit(SECOND, 20);
    step_end();
}

static void run_drop(void)
{
    write_room(FIRST);
    commit(FIRST, 10);
    step_begin();
    otelctx_publication_drop(&shared->context);
    step_end();
}

/* OTEP 4719, "Reading Protocol", steps 2 to 7, of a process that stands still.
 */
static void look(pid_t pid, struct trace *trace)
{
    struct otelctx_header h;
    uint8_t payload[2];

    if (!peek(pid, trace->page, &h, sizeof(h)) ||
        memcmp(h.signature, "OTEL_CTX", 8) != 0 || h.version != 2) {
        trace->absent++;
        return;
    }
    if (h.payload_size == 0 || h.payload == 0)
        trace->signed_early = true;
    if (h.published_at_ns == 0) {
        trace->zero++;
        return;
    }
    cr_assert_leq(h.payload_size, 2u);
    cr_assert(peek(pid, h.payload, payload, h.payload_size));
    for (unsigned i = 0; i < h.payload_size; i++)
        cr_assert_eq(payload[i], h.payload_size, "a payload of another size");
    cr_assert_eq(h.published_at_ns, (uint64_t)10 * h.payload_size,
                 "a timestamp of another payload");
    trace->seen[h.payload_size]++;
}

/* Before a system call: note the state of the header. */
static void look_at_call(pid_t pid, const struct step_next *next,
                         struct trace *trace)
{
    struct otelctx_header h;

    if (!step_is_system_call(next))
        return;
    trace->calls++;
    if (!peek(pid, trace->page, &h, sizeof(h)))
        return;
    trace->at_call = h;
    if (h.published_at_ns == 0)
        trace->zero_calls++;
    if (next->regs.rdi == PR_SET_VMA && h.published_at_ns == 0)
        trace->unready_calls++;
}

/* Before a full fence: note the header, and so the stores before it. */
static void look_at_fence(pid_t pid, const struct step_next *next,
                          struct trace *trace)
{
    if (!step_is_fence(next))
        return;
    cr_assert_lt(trace->fences, 4u);
    cr_assert(peek(pid, trace->page, &trace->at_fence[trace->fences++],
                   sizeof(struct otelctx_header)));
}

static int look_at_all(pid_t pid, void *context)
{
    const struct step_next next = step_next(pid);
    struct trace *const trace = context;

    if (!trace->page)
        trace->page = (uintptr_t)shared->context.mapping.at;
    trace->steps++;
    look(pid, trace);
    look_at_call(pid, &next, trace);
    look_at_fence(pid, &next, trace);
    return 0;
}

/* Single-step a child through the marked part of `run`. */
static struct trace step_through(void (*run)(void))
{
    struct trace trace = {0};
    pid_t pid;

    shared = step_share(sizeof(*shared));
    pid = step_fork();
    if (pid == 0) {
        run();
        _exit(0);
    }
    step_watch(pid, look_at_all, &trace);
    return trace;
}

Test(publish, at_every_instruction_there_is_no_context_or_the_whole_one)
{
    const struct trace trace = step_through(run_publish);

    cr_expect_gt(trace.steps, 20);
    cr_expect_gt(trace.absent, 0);
    cr_expect_gt(trace.seen[FIRST], 0);
    cr_expect_eq(trace.seen[SECOND], 0);
}

Test(publish, step_8_stores_the_fields_before_signature_and_timestamp)
{
    cr_expect_not(step_through(run_publish).signed_early);
}

Test(publish, step_8_has_full_fences_before_signature_and_timestamp)
{
    const struct trace trace = step_through(run_publish);
    const struct otelctx_header *at = trace.at_fence;

    cr_assert_eq(trace.fences, 2);
    cr_expect_eq(at[0].version, 2);
    cr_expect_eq(at[0].payload_size, FIRST);
    cr_expect_neq(at[0].payload, 0);
    cr_expect_eq(at[0].signature[0], 0);
    cr_expect_arr_eq(at[1].signature, "OTEL_CTX", 8);
    cr_expect_eq(at[1].published_at_ns, 0);
}

Test(publish, step_10_naming_comes_last_and_is_the_only_system_call)
{
    const struct trace trace = step_through(run_publish);

    cr_expect_eq(trace.calls, 1);
    cr_expect_eq(trace.unready_calls, 0);
}

Test(update, at_every_instruction_there_is_the_old_the_new_or_a_zero_timestamp)
{
    const struct trace trace = step_through(run_update);

    cr_expect_eq(trace.absent, 0);
    cr_expect_gt(trace.seen[FIRST], 0);
    cr_expect_gt(trace.seen[SECOND], 0);
}

Test(update, step_2_and_6_the_timestamp_is_zero_in_between)
{
    cr_expect_gt(step_through(run_update).zero, 0);
}

Test(update, makes_no_system_call_while_the_timestamp_is_zero)
{
    const struct trace trace = step_through(run_update);

    cr_expect_eq(trace.zero_calls, 0);
    cr_expect_leq(trace.zero, 12, "%u instructions", trace.zero);
}

Test(update, step_3_and_5_full_fences_are_around_the_stores)
{
    const struct trace trace = step_through(run_update);
    const struct otelctx_header *at = trace.at_fence;

    cr_assert_eq(trace.fences, 2);
    cr_expect_eq(at[0].published_at_ns, 0);
    cr_expect_eq(at[0].payload_size, FIRST);
    cr_expect_neq(at[0].payload, at[1].payload);
    cr_expect_eq(at[1].payload_size, SECOND);
    cr_expect_eq(at[1].published_at_ns, 0);
}

Test(update, step_7_naming_comes_last_and_is_the_only_system_call)
{
    const struct trace trace = step_through(run_update);

    cr_expect_eq(trace.calls, 1);
    cr_expect_eq(trace.unready_calls, 0);
}

Test(drop, at_every_instruction_there_is_the_whole_context_or_none)
{
    const struct trace trace = step_through(run_drop);

    cr_expect_gt(trace.seen[FIRST], 0);
    cr_expect_gt(trace.absent, 0);
}

Test(drop, the_timestamp_is_zero_before_the_signature_goes)
{
    cr_expect_gt(step_through(run_drop).zero, 0);
}

Test(drop, the_signature_is_gone_before_the_page_is)
{
    const struct trace trace = step_through(run_drop);

    cr_assert_eq(trace.calls, 3); /* probe, naming, munmap */
    cr_expect_arr_eq(trace.at_call.signature, "\0\0\0\0\0\0\0", 8);
    cr_expect_eq(trace.at_call.payload_size, FIRST);
}

Test(drop, a_full_fence_is_between_timestamp_and_signature)
{
    const struct trace trace = step_through(run_drop);

    cr_assert_eq(trace.fences, 1);
    cr_expect_eq(trace.at_fence[0].published_at_ns, 0);
    cr_expect_arr_eq(trace.at_fence[0].signature, "OTEL_CTX", 8);
}
