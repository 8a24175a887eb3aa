/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_TRACEE_H
#define OTELREAD_TRACEE_H

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

/*
 * Stops a thread. Returns 0, -ESRCH (it has ended), -EPERM, -ETIMEDOUT (it did
 * not stop in time, although a processor was free) or -errno.
 */
int otelread_tracee_stop(struct otelread_tracee *tracee, pid_t tid,
                         uint64_t limit_ns);

/*
 * Lets it run. Returns 0 and the longest time it may have been stopped, or
 * -errno.
 */
int otelread_tracee_release(struct otelread_tracee *tracee,
                            uint64_t *stopped_ns);

#endif
