/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/tracee.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/stat.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/* In what waitid(2) says of a tracee: the event is above the signal. */
#define EVENT_SHIFT 8
#define SIGNAL_MASK 0xff

static const int put_off[] = {SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU};

void otelread_tracer_begin(struct otelread_tracer *tracer)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t mask;

    (void)sigemptyset(&mask);
    for (size_t i = 0; i < sizeof(put_off) / sizeof(put_off[0]); i++)
        (void)sigaddset(&mask, put_off[i]);
    (void)sigprocmask(SIG_BLOCK, &mask, &tracer->mask);
    /* A parent may have left SIGCHLD ignored: then none would be sent. */
    (void)sigaction(SIGCHLD, &standard, &tracer->child);
}

void otelread_tracer_end(const struct otelread_tracer *tracer)
{
    (void)sigaction(SIGCHLD, &tracer->child, NULL);
    (void)sigprocmask(SIG_SETMASK, &tracer->mask, NULL);
}

/*
 * WNOWAIT leaves the signal of a signal-delivery-stop in the tracee: when this
 * process is killed before it passes the signal on, the kernel delivers it.
 */
static int poll_tracee(pid_t tid, siginfo_t *info)
{
    *info = (siginfo_t){.si_pid = 0};
    if (waitid(P_PID, (id_t)tid, info,
               WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
        return errno == ECHILD ? -ESRCH : -errno;
    return info->si_pid == 0 ? -EAGAIN : 0;
}

static void wait_for_news(uint64_t limit_ns)
{
    const struct timespec limit = otelread_timespec(limit_ns);
    sigset_t news;

    (void)sigemptyset(&news);
    (void)sigaddset(&news, SIGCHLD);
    (void)sigtimedwait(&news, NULL, &limit);
}

/* Such a thread stops as soon as a processor is free. */
static bool is_waiting_to_run(pid_t tid)
{
    struct otelread_stat stat;

    return otelread_stat_read(tid, tid, &stat) == 0 && stat.state == 'R';
}

static int wait_for_stop(pid_t tid, struct otelread_limit limit,
                         siginfo_t *info)
{
    const uint64_t start_ns = otelread_monotonic_ns();

    for (;;) {
        const int error = poll_tracee(tid, info);
        const uint64_t waited_ns = otelread_monotonic_ns() - start_ns;

        if (error != -EAGAIN)
            return error;
        if (waited_ns < limit.ns)
            wait_for_news(limit.ns - waited_ns);
        else if (waited_ns < limit.busy_ns && is_waiting_to_run(tid))
            wait_for_news(limit.ns);
        else
            return -ETIMEDOUT;
    }
}

/*
 * Any kind of stop will do. A signal that was pending when the thread was
 * seized is reported before the requested stop; detaching with that signal
 * delivers it, and cancels the requested stop.
 */
int otelread_tracee_stop(struct otelread_tracee *tracee, pid_t tid,
                         struct otelread_limit limit)
{
    siginfo_t info;

    *tracee = (struct otelread_tracee){.tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
        return -errno;
    tracee->held = true;
    tracee->asked_at_ns = otelread_monotonic_ns();
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return -errno;

    const int error = wait_for_stop(tid, limit, &info);
    if (error != 0)
        return error;
    if (info.si_code != CLD_TRAPPED)
        return -ESRCH;
    if (info.si_status >> EVENT_SHIFT == 0)
        tracee->signal = info.si_status & SIGNAL_MASK;
    return 0;
}

bool otelread_tracee_is_quiet(const struct otelread_tracee *tracee)
{
    siginfo_t info;

    return poll_tracee(tracee->tid, &info) == -EAGAIN;
}

int otelread_tracee_release(struct otelread_tracee *tracee,
                            uint64_t *stopped_ns)
{
    const uintptr_t signal = (uintptr_t)tracee->signal;

    if (ptrace(PTRACE_DETACH, tracee->tid, NULL, (void *)signal) != 0)
        return -errno;
    tracee->held = false;
    *stopped_ns = otelread_monotonic_ns() - tracee->asked_at_ns;
    return 0;
}
