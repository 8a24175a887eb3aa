/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Forks under seccomp filters that kill a process at one system call. */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/e2e/fork/fork.h"

/* The system calls that the shim makes for a child, or to look for another
 * publisher. */
static const long publishers_calls[] = {SYS_memfd_create, SYS_mmap, SYS_madvise,
                                        SYS_getrandom, SYS_openat};

/* By libc's prctl, which the shim sees, or by a raw system call. */
static inline int install_filter(long call, bool by_prctl)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 4, .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                    : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
                                   &program);
}

static inline int kill_past_libc(long call)
{
    return install_filter(call, false);
}

/* Two processes that forked under a filter. They cannot check themselves,
 * because the filter forbids the system calls; they report that they are ready,
 * and wait to be read. */
struct pair {
    pid_t parent, child;
    int ready[2], judged[2];
};

static inline void fork_and_wait(struct pair *pair)
{
    char byte;

    pair->child = fork();
    if (pair->child == 0) {
        const pid_t self = getpid();

        if (write(pair->ready[1], &self, sizeof(self)) != sizeof(self))
            _exit(CALL_FAILED);
    }
    close(pair->ready[1]);
    if (read(pair->judged[0], &byte, 1) != 0)
        _exit(CALL_FAILED);
    _exit(pair->child ? status_of(pair->child) : 0);
}

/* Runs the parent in a process of its own, because a filter cannot be removed,
 * and checks the parent's context. */
static inline void expect_silent_child_under(int (*kill_at)(long), long call,
                                             int fault_of_parent)
{
    /* The shim looks for other publishers at intervals of at most this. */
    static const struct timespec until_it_looks_again = {.tv_nsec = 100000000};
    struct pair pair;

    cr_assert_eq(pipe(pair.ready) | pipe(pair.judged), 0);
    pair.parent = fork();
    if (pair.parent == 0) {
        close(pair.judged[1]);
        cr_assert_eq(otelctx_process_set("n", "1"), 0);
        if (fault_of_parent == AS_IT_SHOULD_BE)
            publish("1");
        nanosleep(&until_it_looks_again, NULL);
        if (kill_at(call))
            _exit(CALL_FAILED);
        fork_and_wait(&pair);
    }
    close(pair.ready[1]);
    close(pair.judged[0]);
    cr_assert_eq(read(pair.ready[0], &pair.child, sizeof(pid_t)), sizeof(pid_t),
                 "who makes system call %ld dies", call);
    cr_expect_eq(judge(pair.parent, "n", "1"), fault_of_parent, "%ld", call);
    cr_expect_eq(judge(pair.child, "n", "1"), NO_CONTEXT, "%ld", call);
    close(pair.judged[1]);
    close(pair.ready[0]);
    cr_expect_eq(status_of(pair.parent), 0, "%ld", call);
}

static inline void expect_silent_children_under(int (*kill_at)(long),
                                                int fault_of_parent)
{
    for (size_t i = 0; i < sizeof(publishers_calls) / sizeof(long); i++)
        expect_silent_child_under(kill_at, publishers_calls[i],
                                  fault_of_parent);
}
