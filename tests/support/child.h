/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Checks that a test makes in a forked child. */

#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Has the child exited, and with 0? */
static inline bool child_succeeds(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The result of the check in a child of libc's fork(2). */
static inline bool in_child(bool (*check)(void))
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(check() ? 0 : 1);
    return child_succeeds(pid);
}

/* In a child of a raw clone, for which libc runs no handlers. */
static inline bool in_raw_child(bool (*check)(void))
{
    const pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid == 0)
        _exit(check() ? 0 : 1);
    return child_succeeds(pid);
}

/* In a child that the kernel kills at any system call but read, write and
 * exit. */
static inline bool in_strict_child(bool (*check)(void))
{
    const pid_t pid = fork();

    if (pid == 0) {
        if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
            _exit(1);
        syscall(SYS_exit, check() ? 0 : 1);
    }
    return child_succeeds(pid);
}
