/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Single-steps a thread under the shim through each frequent call, to see which
 * instructions it executes. meson.build preloads the library that ships, as for
 * step_thread.c.
 */

#include "tests/e2e/step.h"
#include "tests/e2e/step_calls.h"

#include <sys/auxv.h>

#define X16 "xxxxxxxxxxxxxxxx"
#define X64 X16 X16 X16 X16

/* What an instruction belongs to. */
enum place {
    ELSEWHERE,
    TEST,
    SHIM,
    LOADER /* which resolves TLS descriptors */
};

/* Instructions, from when the shim is entered until it is left. */
struct executed {
    enum place place; /* of the last one */
    bool in_call;
    unsigned shim, loader, elsewhere, system_calls, fences;
    unsigned lookups; /* calls of the loader */
};

/* A forked child has everything at the same addresses as its parent. */
static enum place place_of(uint64_t at)
{
    const void *const object = step_object(at);

    if (!object)
        return ELSEWHERE;
    if (object == step_object((uintptr_t)dlsym(NULL, "otelctx_abi")))
        return SHIM;
    if (object == step_object((uintptr_t)place_of))
        return TEST;
    return (uintptr_t)object == getauxval(AT_BASE) ? LOADER : ELSEWHERE;
}

static int look(pid_t pid, void *context)
{
    const struct step_next next = step_next(pid);
    struct executed *const e = context;
    const enum place before = e->place;

    e->place = place_of(next.regs.rip);
    if (e->place == SHIM || e->place == TEST)
        e->in_call = e->place == SHIM;
    if (!e->in_call)
        return 0;
    e->shim += e->place == SHIM;
    e->loader += e->place == LOADER;
    e->lookups += e->place == LOADER && before == SHIM;
    e->elsewhere += e->place == ELSEWHERE;
    e->system_calls += step_is_system_call(&next);
    e->fences += step_is_fence(&next);
    return 0;
}

static struct executed step_through(const char *before, const char *words)
{
    const struct call call = call_parse(words);
    struct executed e = {.place = TEST};
    const pid_t pid = step_fork();

    if (pid == 0) {
        make_calls(before);
        step_begin();
        call.make(&call);
        step_end();
        _exit(0);
    }
    step_watch(pid, look, &e);
    return e;
}

/* A TLS descriptor of static TLS: endbr64, load the offset, return. */
enum {
    LOOKUP = 3
};

Test(hot_path, no_call_makes_a_system_call_takes_a_lock_or_leaves_the_shim)
{
    static const char *const calls[][2] = {
        {"detach", "attach 1"},
        {"attach 1", "traceparent 2 00-02020202020202020202020202020202-"
                     "0202020202020202-00"},
        {"pin; attach 1", "attach 2"},
        {"attach 1", "attr 0 " X64 X64},
        {"attach 1; attr 0 aaaa; attr 1 " X64, "attr 0 bbb"},
        {"attach 1; attr 0 aaaa; attr 1 " X64, "unset 0"},
        {"all", "attr 0 a"},
        {"attach 1", "get"},
        {"attach 1", "detach"},
        {"attach 1", "pin"},
        {"attach 1", "record 5"},
        {"record 5; recordattr 5 a", "recordattr 5 " X64},
        {"record 5", "swap 5"},
        {"record 5; swap 5", "back"},
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const char *const words = calls[i][1];
        const struct executed e = step_through(calls[i][0], words);

        cr_expect_gt(e.shim, 5, "%s: %u", words, e.shim);
        cr_expect_eq(e.system_calls, 0, "%s: %u", words, e.system_calls);
        cr_expect_eq(e.fences, 0, "%s: %u locks", words, e.fences);
        cr_expect_eq(e.elsewhere, 0, "%s: %u", words, e.elsewhere);
        cr_expect_leq(e.loader, LOOKUP * e.lookups, "%s: %u for %u lookups",
                      words, e.loader, e.lookups);
    }
}
