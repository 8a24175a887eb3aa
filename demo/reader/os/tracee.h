/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Signal settings while this process stops threads of others. SIGCHLD is
 * blocked, so that sigtimedwait() can wait for it: it announces a stop. The
 * signals that would suspend this process are blocked, too: otherwise a thread
 * could stay stopped for as long as its tracer is suspended.
 */
struct otelread_tracer {
    sigset_t mask; /* both as they were before */
    struct sigaction child;
};

/* Call it while the process has no other threads. */
void otelread_tracer_begin(struct otelread_tracer *tracer);
void otelread_tracer_end(const struct otelread_tracer *tracer);

/*
 * A thread that the calling thread stops. While it is held, the calling thread
 * must not stop another one: an exec in the target waits until its tracer has
 * reaped the threads that the exec ended, and would hang. A thread that cannot
 * be released (it did not stop in time, or is being killed) is held until the
 * calling thread ends.
 */
struct otelread_tracee {
    pid_t tid;
    bool held;
    int signal;           /* that was about to be delivered to it, or 0 */
    uint64_t asked_at_ns; /* when it was asked to stop */
};

/* How long to wait for a thread to stop. */
struct otelread_limit {
    uint64_t ns;
    uint64_t busy_ns; /* while it waits for a processor, and nothing else */
};

/*
 * Stops a thread. Returns 0, -ESRCH (it has ended), -EPERM, -ETIMEDOUT (it did
 * not stop in time) or -errno.
 */
int otelread_tracee_stop(struct otelread_tracee *tracee, pid_t tid,
                         struct otelread_limit limit);

/*
 * Whether a thread that did not stop in time has not stopped yet. Then it has
 * executed none of the program's code since it was asked, but for the
 * microseconds until its processor was interrupted: it was waiting for a
 * processor, or in the kernel.
 */
bool otelread_tracee_is_quiet(const struct otelread_tracee *tracee);

/*
 * Lets it run. Returns 0 and the longest time it may have been stopped, or
 * -errno.
 */
int otelread_tracee_release(struct otelread_tracee *tracee,
                            uint64_t *stopped_ns);
