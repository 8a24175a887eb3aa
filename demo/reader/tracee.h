/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_TRACEE_H
#define OTELREAD_TRACEE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the process must have for as long as it stops others: SIGCHLD, by
 * which the kernel tells of a stop, is kept for waiting; and signals that
 * would suspend this process are put off, because what it has stopped would
 * have to wait for it.
 */
struct otelread_tracer {
    sigset_t mask; /* as they were before */
    struct sigaction child;
};

/* In a process that has no other threads. */
void otelread_tracer_begin(struct otelread_tracer *tracer);
void otelread_tracer_end(const struct otelread_tracer *tracer);

/*
 * A thread that the calling thread stops. As long as it is held, the calling
 * thread must not stop another one: two at once could hang an exec in the
 * target, which waits until the threads that it ended were waited for. What
 * cannot be let go of any more (it did not stop in time, it is being killed)
 * is held until the calling thread ends.
 */
struct otelread_tracee {
    pid_t tid;
    bool held;
    int signal;           /* that was about to be delivered to it, or 0 */
    uint64_t asked_at_ns; /* to stop, which it may have done at once */
};

/*
 * Stops a thread. Returns 0, -ESRCH (it has ended), -EPERM, -ETIMEDOUT (it did
 * not stop within that time, and was not waiting for a processor) or -errno.
 */
int otelread_tracee_stop(struct otelread_tracee *tracee, pid_t tid,
                         uint64_t limit_ns);

/* Lets it run. Returns 0 and for how long it was stopped at most, or -errno. */
int otelread_tracee_release(struct otelread_tracee *tracee,
                            uint64_t *stopped_ns);

#endif
