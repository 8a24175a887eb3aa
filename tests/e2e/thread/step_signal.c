/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A signal interrupts a thread under the shim before each instruction of a call
 * in turn; a second signal interrupts the first one's handler before each of
 * the handler's instructions. The handlers attach contexts of their own, 7 and
 * 8. A handler leaves the context that it found, and the call has the same
 * result as without signals. meson.build preloads the library that ships, as
 * for step_thread.c.
 */

#include "tests/e2e/step.h"
#include "tests/e2e/step_calls.h"
#include "tests/e2e/step_record.h"

/* Shared by parent and child. */
struct shared {
    volatile uint8_t holder; /* the context that readers must see; 0: any */
    volatile bool attached;  /* a handler has attached its context for good */
    volatile unsigned refused;
    const char *volatile fault; /* what is wrong, or NULL */
};
static struct shared *shared;

static void expect(bool is_so, const char *what)
{
    if (!is_so && !shared->fault)
        shared->fault = what;
}

/* ---- in the child ------------------------------------------------------- */

/* Stops, so that the parent looks. */
static void stop(void)
{
    kill(getpid(), SIGSTOP);
}

/* What the handlers of a test do with the context of this number. */
typedef void handler_body(uint8_t number);
static handler_body *body;

static void handle(int signal)
{
    body(signal == SIGUSR1 ? 7 : 8);
    stop();
}

static void swap_there_and_back(uint8_t number)
{
    const struct call call = {.number = number};
    struct otelctx_record *found = NULL, *left = NULL;
    struct otelctx_ids ids = {.trace_flags = 0};

    call_record(&call);
    expect(!otelctx_swap(&program_records[number], &found), "swap in");
    expect(!otelctx_get(&ids) && ids.trace_id[0] == number, "its own ids");
    expect(!otelctx_swap(found, &left) && left == &program_records[number],
           "swap back");
}

/* Handlers may leave the slot empty for a while, too. */
static void clear_and_restore(uint8_t number)
{
    struct otelctx_record *found = NULL;

    (void)number;
    expect(!otelctx_swap(NULL, &found), "swap out");
    expect(!otelctx_swap(found, NULL), "swap back");
}

/* Calls that handlers must not make, except on a record of their own. */
static void change_what_is_swapped_in(uint8_t number)
{
    const struct call attr = {.number = 1, .text = "h"};
    const struct call call = {.number = number};
    struct otelctx_record *found = NULL;
    int result;

    call_record(&call);
    expect(!otelctx_swap(&program_records[number], &found), "swap in");
    expect(call_attach(&call) == -EBUSY, "attach over a record");
    result = call_attr(&attr);
    expect(result == 0 || result == -EBUSY, "attr");
    shared->holder = number;
    stop();
    shared->holder = 0;
    expect(!otelctx_swap(found, NULL), "swap back");
}

/* Attaches for good. The shim refuses that while the thread is writing, because
 * the record would be a mixture. */
static void attach(uint8_t number)
{
    const struct call call = {.number = number};
    const int result = call_attach(&call);

    expect(result == 0 || result == -EBUSY, "attach");
    shared->attached = result == 0;
    shared->refused += result != 0;
}

/* Makes the call, round after round. */
static void run_rounds(const char *before, const struct call *call)
{
    for (;;) {
        make_calls(before);
        stop();
        expect(call->make(call) == 0, "the interrupted call");
        stop();
        expect(!otelctx_swap(NULL, NULL), "the slot is as we left it");
        (void)otelctx_pin(); /* replaces any context; then detach */
        (void)otelctx_detach();
    }
}

/* ---- around it ---------------------------------------------------------- */

enum {
    POINTS_MAX = 2000
};

/* Instructions of the shim, in the order of execution. */
struct points {
    uint64_t at[POINTS_MAX];
    unsigned count;
};

struct plan {
    const char *before, *words; /* calls before, and the call */
    const char *after;          /* contexts allowed then: "2" or "2|7" */
};

/* A child that makes the call. */
struct test {
    const struct plan *plan;
    pid_t pid;
    uint64_t slot;
    struct points points; /* of the call */
    struct words seen;    /* the last context */
};

/* Runs the child to its next stop, or for one instruction. Returns the signal
 * that stopped it. */
static int resume(const struct test *t, bool by_one, int signal)
{
    int status;

    STEP_ASSERT(ptrace(by_one ? PTRACE_SINGLESTEP : PTRACE_CONT, t->pid, 0,
                       signal) == 0 &&
                    waitpid(t->pid, &status, 0) == t->pid && WIFSTOPPED(status),
                "%s: the thread is gone", t->plan->words);
    return WSTOPSIG(status);
}

static void read_context(struct test *t)
{
    struct seen seen;

    see(t->pid, t->slot, &seen);
    t->seen = seen_words(&seen);
}

/* Runs the child until it stops by itself. */
static void go_on(struct test *t, int signal)
{
    const int stopped = resume(t, false, signal);

    STEP_ASSERT(!shared->fault, "%s: %s", t->plan->words, shared->fault);
    STEP_ASSERT(stopped == SIGSTOP, "%s: signal %d", t->plan->words, stopped);
    read_context(t);
    STEP_ASSERT(!shared->holder || t->seen.text[0] == '0' + shared->holder,
                "%s: %s in a handler", t->plan->words, t->seen.text);
}

/* Steps the child until it stops by itself, and notes the instructions. */
static void record(struct test *t, int signal, struct points *points)
{
    const void *const shim = step_object((uintptr_t)dlsym(NULL, "otelctx_abi"));

    points->count = 0;
    while (resume(t, true, signal) == SIGTRAP) {
        const uint64_t at = step_next(t->pid).regs.rip;

        signal = 0;
        if (step_object(at) != shim)
            continue;
        STEP_ASSERT(points->count < POINTS_MAX, "%s: no end", t->plan->words);
        points->at[points->count++] = at;
    }
}

/* Runs the child to an instruction, before its n-th execution. */
static void run_to(const struct test *t, int signal, uint64_t at,
                   unsigned times)
{
    struct user_regs_struct regs;
    void *const place = (void *)(uintptr_t)at;
    const long code = ptrace(PTRACE_PEEKTEXT, t->pid, place, 0);
    const long trap = (long)(((unsigned long)code & ~0xffUL) | 0xcc /* int3 */);

    for (;;) {
        ptrace(PTRACE_POKETEXT, t->pid, place, trap);
        STEP_ASSERT(resume(t, false, signal) == SIGTRAP, "%s: another way",
                    t->plan->words);
        ptrace(PTRACE_POKETEXT, t->pid, place, code);
        ptrace(PTRACE_GETREGS, t->pid, 0, &regs);
        regs.rip = at;
        ptrace(PTRACE_SETREGS, t->pid, 0, &regs);
        if (--times == 0)
            return;
        signal = 0;
        resume(t, true, 0);
    }
}

/* From the point `from`, at which the child is. */
static void run_on_to_point(const struct test *t, int signal,
                            const struct points *points, unsigned from,
                            unsigned number)
{
    unsigned times = 0;

    for (unsigned i = from; i <= number; i++)
        times += points->at[i] == points->at[number];
    run_to(t, signal, points->at[number], times);
}

static void run_to_point(const struct test *t, int signal,
                         const struct points *points, unsigned number)
{
    run_on_to_point(t, signal, points, 0, number);
}

/* Checks the child between two calls. */
static struct test start(const struct plan *plan, handler_body *handler)
{
    const struct sigaction action = {.sa_handler = handle};
    const struct call call = call_parse(plan->words);
    struct test t = {.plan = plan,
                     .slot = (uintptr_t)dlsym(NULL, "otel_thread_ctx_v1")};

    cr_assert_neq(t.slot, 0, "the shim is not preloaded");
    shared = step_share(sizeof(*shared));
    body = handler;
    t.pid = step_fork();
    if (t.pid == 0) {
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGUSR2, &action, NULL);
        run_rounds(plan->before, &call);
    }
    cr_assert_eq(waitpid(t.pid, NULL, 0), t.pid);
    record(&t, 0, &t.points);
    cr_expect_gt(t.points.count, 10, "%s: %u points", plan->words,
                 t.points.count);
    return t;
}

static void end(const struct test *t)
{
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
}

/* Runs a handler from its start to its end. */
static void run_handler(struct test *t, int signal)
{
    go_on(t, signal);
    while (shared->holder)
        go_on(t, 0);
}

static void check_left(const struct test *t, const char *found)
{
    STEP_ASSERT(strcmp(found, t->seen.text) == 0, "%s: found %s, left %s",
                t->plan->words, found, t->seen.text);
}

static bool is_one_of(const char *text, const char *list)
{
    const size_t size = strlen(text);

    while (strncmp(list, text, size) != 0 ||
           (list[size] != '|' && list[size] != '\0')) {
        list = strchr(list, '|');
        if (!list++)
            return false;
    }
    return true;
}

static void end_round(struct test *t)
{
    go_on(t, 0);
    STEP_ASSERT(is_one_of(t->seen.text, t->plan->after), "%s: %s",
                t->plan->words, t->seen.text);
}

static void interrupt(const struct plan *plan, handler_body *handler)
{
    struct test t = start(plan, handler);
    struct words found;

    for (unsigned i = 0; i < t.points.count; i++) {
        go_on(&t, 0);
        run_to_point(&t, 0, &t.points, i);
        read_context(&t);
        found = t.seen;
        shared->attached = false;
        run_handler(&t, SIGUSR1);
        check_left(&t, shared->attached ? "7" : found.text);
        end_round(&t);
    }
    end(&t);
}

/* Interrupts the first handler with the second, at each of its instructions in
 * turn, in rounds in which the first signal comes at this point. */
static void interrupt_handler(struct test *t, unsigned number)
{
    static struct points inner;
    struct words found, inner_found;

    go_on(t, 0);
    run_to_point(t, 0, &t->points, number);
    read_context(t);
    found = t->seen;
    record(t, SIGUSR1, &inner);
    end_round(t);
    for (unsigned i = 0; i < inner.count; i++) {
        go_on(t, 0);
        run_to_point(t, 0, &t->points, number);
        run_to_point(t, SIGUSR1, &inner, i);
        read_context(t);
        inner_found = t->seen;
        run_handler(t, SIGUSR2);
        check_left(t, inner_found.text);
        go_on(t, 0);
        check_left(t, found.text);
        end_round(t);
    }
}

static void interrupt_twice(const struct plan *plan, handler_body *handler)
{
    struct test t = start(plan, handler);

    for (unsigned i = 0; i < t.points.count; i++)
        interrupt_handler(&t, i);
    end(&t);
}

/* Steps the child through its next call of the shim; returns its length. */
static unsigned count_next_call(const struct test *t)
{
    const void *const shim = step_object((uintptr_t)dlsym(NULL, "otelctx_abi"));
    unsigned count = 0;
    bool is_inside;

    do {
        resume(t, true, 0);
        is_inside = step_object(step_next(t->pid).regs.rip) == shim;
        count += is_inside;
    } while (is_inside || count == 0);
    return count;
}

/* The swap after the call executes as many instructions as without handlers. */
static void interrupt_and_count(const struct plan *plan, handler_body *handler)
{
    struct test t = start(plan, handler);
    const unsigned calm = count_next_call(&t);

    for (unsigned i = 0; i < t.points.count; i++) {
        go_on(&t, 0);
        run_to_point(&t, 0, &t.points, i);
        run_handler(&t, SIGUSR1);
        end_round(&t);
        const unsigned after = count_next_call(&t);
        STEP_ASSERT(after == calm, "%s: %u instructions, and %u after %u",
                    plan->words, calm, after, i);
    }
    end(&t);
}

/* Of a call that hides the context for a while: one handler at each of the last
 * points before, one while it is hidden, and one at each point after. */
static void interrupt_thrice(const struct plan *plan, handler_body *handler)
{
    enum {
        BEFORE = 60
    };
    struct test t = start(plan, handler);
    unsigned hidden, shown;

    go_on(&t, 0);
    for (hidden = 0; hidden == 0 || strcmp(t.seen.text, "-") != 0; hidden++) {
        run_on_to_point(&t, 0, &t.points, hidden, hidden);
        read_context(&t);
    }
    for (shown = hidden; strcmp(t.seen.text, "-") == 0; shown++) {
        run_on_to_point(&t, 0, &t.points, shown, shown);
        read_context(&t);
    }
    end_round(&t);
    for (unsigned i = hidden < BEFORE ? 0 : hidden - BEFORE; i < hidden - 1;
         i++)
        for (unsigned k = shown - 1; k < t.points.count; k++) {
            go_on(&t, 0);
            run_to_point(&t, 0, &t.points, i);
            run_handler(&t, SIGUSR1);
            run_on_to_point(&t, 0, &t.points, i, hidden);
            run_handler(&t, SIGUSR1);
            run_on_to_point(&t, 0, &t.points, hidden, k);
            run_handler(&t, SIGUSR1);
            end_round(&t);
        }
    end(&t);
}

#define RECORD "record 5; recordattr 5 aa; "

static const struct plan plans[] = {
    {"attach 1; attr 0 aa", "attach 2", "2"},
    {"all", "attach 2", "2"},
    {"pin; attach 1; attr 0 aa", "attach 2", "2"},
    {"attach 1", "attr 0 aa", "1 0=aa"},
    {"all", "attr 0 aa", "9 0=aa"},
    {"attach 1; attr 0 aa", "attr 0 bbb", "1 0=bbb"},
    {"pin; attach 1; attr 0 aa", "attr 0 bbb", "1 0=bbb"},
    {"attach 1; attr 0 aa; attr 1 b", "unset 0", "1 1=b"},
    {RECORD "swap 5", "attr 1 b", "5 0=aa 1=b"},
    {RECORD "swap 5", "attr 0 bbb", "5 0=bbb"},
    {"attach 1; attr 0 aa", "detach", "-"},
    {"pin; attach 1; attr 0 aa", "detach", "-"},
    {RECORD "swap 5", "detach", "-"},
    {"attach 1; attr 0 aa", "pin", "-"},
    {"attach 1; record 5", "swap 5", "5"},
    {"record 5; swap 5; record 6", "swap 6", "6"},
    {"attach 1; attr 0 aa; record 5; swap 5", "back", "1 0=aa"},
    {"all; record 5; swap 5", "back", "9"},
};

Test(signal, at_every_instruction_a_handler_may_swap_there_and_back)
{
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
        interrupt(&plans[i], swap_there_and_back);
}

Test(signal, at_every_instruction_a_handler_may_write_to_a_record_of_its_own)
{
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
        interrupt(&plans[i], change_what_is_swapped_in);
}

Test(signal, at_every_instruction_a_handler_attaches_a_whole_context_or_none)
{
    static const struct plan attaches[] = {
        {"attach 1; attr 0 aa", "attach 2", "2|7"},
        {"pin; attach 1", "attach 2", "2|7"},
        {"attach 1; attr 0 aa", "attr 0 bbb", "1 0=bbb|7|7 0=bbb"},
        {"all", "attr 0 aa", "9 0=aa|7|7 0=aa"},
    };

    for (size_t i = 0; i < sizeof(attaches) / sizeof(attaches[0]); i++) {
        interrupt(&attaches[i], attach);
        cr_expect_gt(shared->refused, 0);
    }
}

Test(signal, at_every_instruction_of_a_handler_a_second_handler_may_swap)
{
    static const struct plan swap = {"record 5; swap 5; record 6", "swap 6",
                                     "6"};

    interrupt_twice(&swap, swap_there_and_back);
}

Test(signal, a_swap_is_as_short_after_a_handler_as_without)
{
    static const struct plan calls[] = {
        {"record 5; swap 5", "back", "-"},
        {"attach 1", "back", "-"},
        {"attach 1; attr 0 aa", "attr 0 bbb", "1 0=bbb"},
        {RECORD "swap 5", "attr 0 bbb", "5 0=bbb"},
        {"record 5; swap 5; record 6", "swap 6", "6"},
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        interrupt_and_count(&calls[i], swap_there_and_back);
        interrupt_and_count(&calls[i], clear_and_restore);
    }
}

Test(signal, three_handlers_in_a_row_leave_a_record_known)
{
    static const struct plan attr = {RECORD "swap 5", "attr 0 bbb", "5 0=bbb"};

    interrupt_thrice(&attr, swap_there_and_back);
}
