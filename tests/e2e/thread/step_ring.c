/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Single-steps a thread under the shim, with the ring as the only storage.
 * Before every instruction a reader looks at the thread's slot from outside.
 * Before each instruction in turn, a signal handler interrupts the thread, and
 * swaps contexts or forks. meson.build preloads the library that ships.
 */

#include "tests/e2e/step.h"
#include "tests/e2e/step_calls.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "tests/e2e/ring.h"

/* The ring of this process. A child has its own, wiped, at the same address. */
static struct ring ring;

static void begin(void)
{
    cr_assert_eq(ring_find(getpid(), &ring), 1, "the shim is not preloaded");
    make_calls("attach 1; record 7; swap 7; back; detach");
}

TestSuite(ring, .init = begin, .timeout = 600);

/* Shared by parent and children. */
struct shared {
    int result;              /* of the call */
    const char *fault;       /* what is wrong, or NULL */
    unsigned handled, forks; /* handlers that ran to their end */
};
static struct shared *shared;

static void expect(bool is_so, const char *what)
{
    if (!is_so && !shared->fault)
        shared->fault = what;
}

/* ---- in the child ------------------------------------------------------- */

static pid_t clone_raw(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
}

static volatile bool is_grandchild, is_raw;

/* Does this process have one ring, with this context of its only thread? */
static bool has_ring_with(int number)
{
    struct otelctx_ring_slot slot;
    struct ring found;

    return ring_find(getpid(), &found) == 1 &&
           ring_see(getpid(), &found, getpid(), &slot) == RING_IDS &&
           ring_number(&slot) == number;
}

static void swap_there_and_back(int number)
{
    struct otelctx_record *found = NULL;

    (void)number;
    step_end();
    expect(!otelctx_swap(&program_records[7], &found), "swap in");
    expect(!otelctx_swap(found, NULL), "swap back");
    shared->handled++;
    step_begin();
}

/* The child of this child returns into the call: see run_call(). */
static void fork_by(pid_t (*fork_)(void))
{
    pid_t pid;
    int status;

    step_end();
    pid = fork_();
    if (pid == 0) {
        alarm(60);
        is_grandchild = true;
        is_raw = fork_ == clone_raw;
        return;
    }
    expect(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
    expect(pid > 0 && status == 0, "the ring of a child");
    shared->handled++;
    step_begin();
}

static void fork_here(int number)
{
    (void)number;
    fork_by(fork);
}

static void clone_here(int number)
{
    (void)number;
    fork_by(clone_raw);
}

/* The shim notices a raw clone at the child's next call. */
static void end_grandchild(int number)
{
    if (is_raw) {
        number = 2;
        make_calls("attach 2");
    }
    _exit(has_ring_with(number) ? 0 : 1);
}

struct plan {
    const char *before, *words; /* the call, and what was done before */
    int number;                 /* what is attached afterwards; 0: nothing */
    bool is_raw;                /* the child's first call of all */
    void (*handler)(int number);
};

static void run_call(const struct plan *plan)
{
    const struct call call = call_parse(plan->words);

    if (plan->before)
        make_calls(plan->before);
    step_begin();
    shared->result = call.make(&call);
    step_end();
    if (is_grandchild)
        end_grandchild(plan->number);
    expect(has_ring_with(plan->number), "the ring afterwards");
    _exit(0);
}

/* The shim created its key before this one. So libc calls the shim's destructor
 * for the second time between the two calls of this destructor. */
static pthread_key_t last;
static const struct plan *ending;

static void attach_again(void *value)
{
    static bool is_second;

    if (is_second) {
        step_end();
        _exit(0);
    }
    is_second = true;
    make_calls(ending->before);
    expect(pthread_setspecific(last, value) == 0, "a second round");
    step_begin();
}

static void run_end_of_thread(const struct plan *plan)
{
    ending = plan;
    expect(pthread_key_create(&last, attach_again) == 0 &&
               pthread_setspecific(last, &last) == 0,
           "a destructor");
    make_calls(plan->before);
    pthread_exit(NULL);
}

/* ---- around it ---------------------------------------------------------- */

struct steps {
    unsigned count, interrupt_at; /* 0: never */
    char last[8], path[128];      /* "1 > busy > 2" */
};

static const char *seen_now(pid_t pid, char words[8])
{
    struct otelctx_ring_header header;
    struct otelctx_ring_slot slot;
    int number;

    STEP_ASSERT(peek(pid, ring.at, &header, sizeof(header)), "no memory");
    if (header.magic == 0)
        return "no ring";
    STEP_ASSERT(ring_is_header(&header), "half a header");
    switch (ring_see(pid, &ring, pid, &slot)) {
    case RING_BUSY:
        STEP_ASSERT(otelctx_ring_sequence(slot.lock) % 2 == 1, "sequence");
        return "busy";
    case RING_IDS:
        STEP_ASSERT(otelctx_ring_sequence(slot.lock) % 2 == 0, "sequence");
        break;
    case RING_NO_SLOT:
    case RING_COLLISION:
        return "none";
    }
    number = ring_number(&slot);
    if (number < 0)
        return "mixed";
    snprintf(words, 8, "%d", number);
    return words;
}

static int look(pid_t pid, void *context)
{
    struct steps *const s = context;
    char words[8];
    const char *now;
    size_t size;

    if (++s->count < s->interrupt_at) /* no interruption yet */
        return 0;
    now = seen_now(pid, words);
    size = strlen(s->path);
    if (strcmp(now, s->last) != 0)
        snprintf(s->path + size, sizeof(s->path) - size, "%s%s",
                 size ? " > " : "", now);
    snprintf(s->last, sizeof(s->last), "%s", now);
    return s->count == s->interrupt_at ? SIGUSR1 : 0;
}

static struct steps step_through(void (*run)(const struct plan *),
                                 const struct plan *plan, unsigned interrupt_at)
{
    const struct sigaction action = {.sa_handler = plan->handler};
    struct steps s = {.interrupt_at = interrupt_at};
    pid_t pid;

    memset(shared, 0, sizeof(*shared));
    pid = step_fork_by(plan->is_raw ? clone_raw : fork);
    if (pid == 0) {
        sigaction(SIGUSR1, &action, NULL);
        run(plan);
    }
    step_watch(pid, look, &s);
    cr_assert_null(shared->fault, "%s, interrupted at %u: %s (%s)", plan->words,
                   interrupt_at, shared->fault, s.path);
    cr_assert_eq(shared->result, 0);
    return s;
}

static void expect_path(void (*run)(const struct plan *),
                        const struct plan *plan, const char *path)
{
    shared = step_share(sizeof(*shared));
    cr_expect_str_eq(step_through(run, plan, 0).path, path);
}

/* A handler before each instruction. */
static void interrupt(void (*run)(const struct plan *), const struct plan *plan)
{
    unsigned at = 0, handled = 0;
    struct steps s;

    shared = step_share(sizeof(*shared));
    do {
        s = step_through(run, plan, ++at);
        cr_assert(!strstr(s.path, "mixed"), "interrupted at %u: %s", at,
                  s.path);
        handled += shared->handled;
    } while (s.count >= at);
    cr_expect_eq(handled, at - 1);
    cr_expect_gt(handled, 50);
}

/* The path of a call that ends with the context of this number. */
static void from_to(const char *before, const char *words, int number,
                    const char *path)
{
    const struct plan plan = {
        .before = before, .words = words, .number = number};

    expect_path(run_call, &plan, path);
}

Test(ring, shows_the_old_context_the_new_one_or_a_write)
{
    from_to("attach 1", "attach 2", 2, "1 > busy > 2");
    from_to("detach", "attach 1", 1, "0 > busy > 1");
    from_to("attach 1", "detach", 0, "1 > busy > 0");
    from_to("attach 1; record 5", "swap 5", 5, "1 > busy > 5");
    from_to("attach 1; record 5; swap 5", "back", 1, "5 > busy > 1");
}

Test(ring, is_missing_in_a_child_of_a_raw_clone_until_its_first_call)
{
    expect_path(
        run_call,
        &(struct plan){.words = "attach 1", .number = 1, .is_raw = true},
        "no ring > none > busy > 1");
}

Test(ring, has_no_slot_of_a_thread_that_has_ended)
{
    expect_path(run_end_of_thread, &(struct plan){.before = "attach 1"},
                "1 > busy > none");
}

static const struct plan update = {"attach 1", "attach 2", 2, false,
                                   swap_there_and_back};

Test(ring, is_never_mixed_when_a_handler_swaps_there_and_back)
{
    const struct plan swap = {"attach 1; record 5", "swap 5", 5, false,
                              swap_there_and_back};

    interrupt(run_call, &update);
    interrupt(run_call, &swap);
}

Test(ring, is_never_mixed_when_a_handler_swaps_while_the_thread_ends)
{
    const struct plan plan = {.before = "attach 1",
                              .words = "the end",
                              .handler = swap_there_and_back};

    interrupt(run_end_of_thread, &plan);
}

Test(ring, is_there_in_each_child_of_a_handler)
{
    struct plan plan = {"attach 1", "attach 3", 3, false, fork_here};

    interrupt(run_call, &plan);
    plan.handler = clone_here;
    interrupt(run_call, &plan);
}

Test(ring, is_there_in_each_child_of_a_handler_during_the_first_call)
{
    struct plan plan = {
        .words = "attach 3", .number = 3, .is_raw = true, .handler = fork_here};

    interrupt(run_call, &plan);
    plan.handler = clone_here;
    interrupt(run_call, &plan);
}
