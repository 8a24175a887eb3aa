/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A child that is single-stepped through what it marks, and looked at from
 * outside before each of its instructions. For x86-64, whose registers and
 * instructions it knows.
 */

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/step_peek.h"

/* Memory that a child shares. */
static inline void *step_share(size_t size)
{
    void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(at, MAP_FAILED);
    return at;
}

/* ---- in the child ------------------------------------------------------- */

static volatile bool *step_marked;

/* From here on, and no further. */
static inline void step_begin(void)
{
    *step_marked = true;
    kill(getpid(), SIGSTOP);
}
static inline void step_end(void)
{
    *step_marked = false;
}

/* Forks; returns 0 in the child, which marks what counts and then exits. Both
 * stay on one processor: they take turns, and waking another one is slow. */
static inline pid_t step_fork_by(pid_t (*fork_)(void))
{
    cpu_set_t here;
    pid_t pid;

    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    sched_setaffinity(0, sizeof(here), &here);
    step_marked = step_share(sizeof(*step_marked));
    pid = fork_();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
    }
    return pid;
}

static inline pid_t step_fork(void)
{
    return step_fork_by(fork);
}

/* ---- around it ---------------------------------------------------------- */

/* Where the object starts that this address is in, here and in a child. */
static inline const void *step_object(uint64_t at)
{
    Dl_info info;

    return dladdr((void *)(uintptr_t)at, &info) ? info.dli_fbase : NULL;
}

/* The instruction that comes next. */
struct step_next {
    struct user_regs_struct regs;
    uint8_t code[8]; /* as much as tells what it is */
};

static inline struct step_next step_next(pid_t pid)
{
    struct step_next next = {.code = {0}};

    STEP_ASSERT(ptrace(PTRACE_GETREGS, pid, 0, &next.regs) == 0 &&
                    peek(pid, next.regs.rip, next.code, sizeof(next.code)),
                "no instruction to be seen");
    return next;
}

static inline bool step_is_system_call(const struct step_next *next)
{
    return memcmp(next->code, "\x0f\x05", 2) == 0 /* syscall */ ||
           memcmp(next->code, "\x0f\x34", 2) == 0 /* sysenter */ ||
           memcmp(next->code, "\xcd\x80", 2) == 0 /* int $0x80 */;
}

/* Does it lock the bus? Then it is a full fence as well; or it is but that. */
static inline bool step_is_fence(const struct step_next *next)
{
    static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64,
                                       0x65, 0x66, 0x67, 0xf2, 0xf3};
    const uint8_t *at = next->code;

    while (memchr(prefixes, *at, sizeof(prefixes)))
        at++;
    if (*at == 0xf0 /* lock */)
        return true;
    if (*at >= 0x40 && *at <= 0x4f /* REX */)
        at++;
    if (*at == 0x86 || *at == 0x87 /* xchg */)
        return at[1] < 0xc0;                   /* with memory */
    return memcmp(at, "\x0f\xae\xf0", 3) == 0; /* mfence */
}

/* Returns a signal for the child, to be taken before the instruction, or 0. */
typedef int step_look(pid_t pid, void *context);

/* To the end of the child. */
static inline void step_watch(pid_t pid, step_look *look, void *context)
{
    int status;

    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        const int stop = WSTOPSIG(status);
        int with = stop == SIGTRAP || stop == SIGSTOP ? 0 : stop;

        if (*step_marked && with == 0)
            with = look(pid, context);
        STEP_ASSERT(ptrace(*step_marked ? PTRACE_SINGLESTEP : PTRACE_CONT, pid,
                           0, with) == 0,
                    "it cannot be stepped");
    }
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x",
              status);
}
