/* SPDX-License-Identifier: Apache-2.0 */

/* otelctx-read --threads: a process does not notice that it was stopped. */

#include "tests/e2e/reader/reader_threads.h"

#include "demo/reader/os/tracee.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/socket.h>

TestSuite(reader_threads_stopping, .timeout = 1200);

#define THREADS 48

/* What a target tells its test. */
static volatile struct {
    uint64_t beats;       /* increases while the target runs */
    bool enough;          /* the sender may stop */
    uint64_t sent;        /* signals */
    uint64_t arrived;     /* signals */
    uint64_t sent_sum;    /* of the values in the signals */
    uint64_t arrived_sum; /* of the values in the signals */
    int returned;         /* calls that should have slept for ever */
    int error;
    pid_t tids[THREADS];
} * shared;

static void share_memory(void)
{
    shared = share(sizeof(*shared));
}

static int read_threads(const struct target *target)
{
    return RUN("--json", "--threads", number(target->pid));
}

static void expect_beat(void)
{
    const uint64_t beats = shared->beats;

    EVENTUALLY(shared->beats > beats);
}

static void *beat(void *unused)
{
    ATTACH(1);
    for (;;) {
        shared->beats++;
        sched_yield();
    }
    return unused;
}

static void *doze(void *index)
{
    ATTACH(2);
    shared->tids[(intptr_t)index] = gettid_raw();
    for (;;)
        pause();
    return NULL;
}

/* One thread that runs, and many that sleep. */
static void many(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    pthread_create(&thread, NULL, beat, NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, doze, (void *)i);
    for (size_t i = 0; i < THREADS; i++) /* threads start in any order */
        while (shared->tids[i] == 0)
            sleep_ms(1);
    while (shared->beats == 0)
        sleep_ms(1);
    say_ready(ready);
}

/* ---- sleeping ----------------------------------------------------------- */

static int nanosleeps(void)
{
    const struct timespec long_time = {3600, 0};

    return nanosleep(&long_time, NULL);
}

static int sleeps_until(void)
{
    const struct timespec far = {INT32_MAX, 0};

    errno = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &far, NULL);
    return -1;
}

static int polls(void)
{
    return poll(NULL, 0, 3600 * 1000);
}

static int selects(void)
{
    struct timeval long_time = {3600, 0};

    return select(0, NULL, NULL, NULL, &long_time);
}

static int waits_for_a_semaphore(void)
{
    static sem_t semaphore;

    return sem_wait(&semaphore);
}

static int waits_for_a_semaphore_in_time(void)
{
    static sem_t semaphore;
    const struct timespec far = {INT32_MAX, 0};

    return sem_timedwait(&semaphore, &far);
}

static int waits_for_a_condition(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec far = {INT32_MAX, 0};

    pthread_mutex_lock(&mutex);
    errno = pthread_cond_timedwait(&condition, &mutex, &far);
    return -1;
}

static int reads_a_pipe(void)
{
    int ends[2];
    char byte;

    return pipe(ends) == 0 ? (int)read(ends[0], &byte, 1) : -1;
}

static int receives(void)
{
    int ends[2];
    char byte;

    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0
               ? (int)recv(ends[0], &byte, 1, 0)
               : -1;
}

static int waits_for_a_lock(void)
{
    const int one = open("/proc/self/exe", O_RDONLY);
    const int two = open("/proc/self/exe", O_RDONLY);

    return flock(one, LOCK_EX) == 0 ? flock(two, LOCK_EX) : -1;
}

static int waits_for_a_child(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return waitpid(pid, NULL, 0);
}

static int (*const sleeps[])(void) = {
    nanosleeps,
    sleeps_until,
    polls,
    selects,
    (int (*)(void))pause,
    waits_for_a_semaphore,
    reads_a_pipe,
    waits_for_a_semaphore_in_time,
    receives,
    waits_for_a_condition,
    waits_for_a_lock,
    waits_for_a_child,
};

#define SLEEPS (sizeof(sleeps) / sizeof(sleeps[0]))

static void *sleep_for_ever(void *index)
{
    ATTACH(1);
    shared->tids[(intptr_t)index] = gettid_raw();
    sleeps[(intptr_t)index]();
    shared->error = errno;
    shared->returned++;
    return NULL;
}

static void sleepers(int ready, int commands)
{
    pthread_t thread;

    (void)commands;
    announce();
    for (intptr_t i = 0; i < (intptr_t)SLEEPS; i++)
        pthread_create(&thread, NULL, sleep_for_ever, (void *)i);
    say_ready(ready);
}

Test(reader_threads_stopping, a_sleeping_thread_sleeps_on, .init = share_memory)
{
    const struct target target = target_start(sleepers);

    for (size_t i = 0; i < SLEEPS; i++)
        EVENTUALLY(shared->tids[i] != 0 &&
                   state_of(target.pid, shared->tids[i]) == 'S');
    for (int i = 0; i < 50; i++)
        EXPECT_STATUS(read_threads(&target), 0);
    EXPECT_JSON("[.[0].threads[] | select(.status == \"attached\" and "
                ".state == \"S\" and (.stopped_ns | tonumber) > 0)] | "
                "length == 12");
    cr_expect_eq(shared->returned, 0, "the last with errno %d", shared->error);
    target_end(&target);
}

/* ---- job control -------------------------------------------------------- */

static int wait_for(const struct target *target, int options)
{
    int status = 0;

    cr_assert_eq(waitpid(target->pid, &status, options), target->pid);
    return status;
}

Test(reader_threads_stopping, a_suspended_process_is_read_and_stays_suspended,
     .init = share_memory)
{
    const struct target target = target_start(many);

    kill(target.pid, SIGSTOP);
    cr_expect(WIFSTOPPED(wait_for(&target, WUNTRACED)));
    EVENTUALLY(state_of(target.pid, shared->tids[0]) == 'T');
    const uint64_t beats = shared->beats;
    for (int i = 0; i < 20; i++) {
        EXPECT_STATUS(read_threads(&target), 0);
        EXPECT_JSON("[.[0].threads[] | select(.status == \"attached\" and "
                    ".state == \"T\")] | length == 49");
    }
    for (size_t i = 0; i < THREADS; i++)
        EVENTUALLY(state_of(target.pid, shared->tids[i]) == 'T');
    cr_expect_eq(shared->beats, beats, "no thread has run");
    cr_expect_eq(waitpid(target.pid, NULL, WUNTRACED | WNOHANG), 0,
                 "its parent is told once, not again");

    kill(target.pid, SIGCONT);
    cr_expect(WIFCONTINUED(wait_for(&target, WCONTINUED)));
    expect_beat();
    target_end(&target);
}

Test(reader_threads_stopping,
     a_process_is_suspended_and_resumed_while_it_is_read, .init = share_memory)
{
    const struct target target = target_start(many);
    const pid_t sender = fork();

    if (sender == 0) {
        for (int i = 0; i < 4000; i++) {
            kill(target.pid, i % 2 == 0 ? SIGSTOP : SIGCONT);
            sched_yield();
        }
        _exit(0);
    }
    while (waitpid(sender, NULL, WNOHANG) == 0)
        EXPECT_STATUS(read_threads(&target), 0);
    expect_beat();
    kill(target.pid, SIGSTOP);
    EVENTUALLY(state_of(target.pid, shared->tids[0]) == 'T');
    target_end(&target);
}

/* ---- signals ------------------------------------------------------------ */

static void count(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    __atomic_fetch_add(&shared->arrived_sum, (uint64_t)info->si_value.sival_int,
                       __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&shared->arrived, 1, __ATOMIC_SEQ_CST);
}

static void counting(int ready, int commands)
{
    const struct sigaction action = {.sa_sigaction = count,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(SIGRTMIN, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    many(ready, commands);
}

/* Real-time signals are queued: each one that is sent arrives. */
static pid_t send_queued(const struct target *target)
{
    const pid_t sender = fork();

    if (sender != 0)
        return sender;
    for (int i = 0; !shared->enough; i = (i + 1) % 10007) {
        while (sigqueue(target->pid, SIGRTMIN, (union sigval){i}) != 0)
            sched_yield();
        shared->sent++;
        shared->sent_sum += (uint64_t)i;
    }
    _exit(0);
}

static void expect_queued(pid_t sender)
{
    shared->enough = true;
    cr_assert_eq(waitpid(sender, NULL, 0), sender);
    EVENTUALLY(shared->arrived == shared->sent);
    sleep_ms(20);
    cr_expect_eq(shared->arrived, shared->sent);
    cr_expect_eq(shared->arrived_sum, shared->sent_sum);
}

Test(reader_threads_stopping, a_queued_signal_is_delivered_exactly_once,
     .init = share_memory)
{
    const struct target target = target_start(counting);
    const pid_t sender = send_queued(&target);

    for (int i = 0; i < 60; i++)
        EXPECT_STATUS(read_threads(&target), 0);
    expect_queued(sender);
    target_end(&target);
}

/* Other signals are not queued. The sender waits for each one to arrive. */
Test(reader_threads_stopping, a_signal_that_is_not_queued_is_delivered,
     .init = share_memory)
{
    const struct target target = target_start(counting);
    const pid_t sender = fork();
    int status = -1;

    if (sender == 0) {
        for (uint64_t i = 0; i < 4000; i++) {
            kill(target.pid, SIGUSR1);
            while (shared->arrived == i)
                sched_yield();
        }
        _exit(0);
    }
    while (waitpid(sender, &status, WNOHANG) == 0)
        EXPECT_STATUS(read_threads(&target), 0);
    cr_expect_eq(status, 0);
    cr_expect_eq(shared->arrived, 4000);
    target_end(&target);
}

/* ---- readers that end in the middle ------------------------------------- */

static void kill_reader(const struct target *target, int signal)
{
    struct reader reader =
        reader_start(NULL, WORDS("--json", "--threads", number(target->pid)));

    sleep_somewhat();
    kill(reader.pid, signal);
    cr_assert_eq(waitpid(reader.pid, NULL, 0), reader.pid);
    reader_close(&reader);
}

static void expect_all_free(const struct target *target)
{
    for (size_t i = 0; i < THREADS; i++) {
        EVENTUALLY(state_of(target->pid, shared->tids[i]) == 'S');
        EVENTUALLY(status_number(target->pid, shared->tids[i], "TracerPid:") ==
                   0);
    }
    expect_beat();
}

Test(reader_threads_stopping, a_reader_that_is_killed_leaves_no_thread_stopped,
     .init = share_memory)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT};
    const struct target target = target_start(many);

    for (size_t i = 0; i < 150; i++) {
        kill_reader(&target, signals[i % 3]);
        expect_all_free(&target);
    }
    target_end(&target);
}

/*
 * As otelread_tracee_stop(), and waits while another tracer has the thread: a
 * test that runs meanwhile may read all threads of this machine.
 */
static int stop_thread(struct otelread_tracee *tracee, pid_t tid)
{
    int error;

    for (int i = 0; i < LIMIT_SEC * 1000; i++) {
        error = otelread_tracee_stop(tracee, tid,
                                     (struct otelread_limit){.ns = LIMIT_NS});
        if (error != -EPERM)
            break;
        sleep_ms(1);
    }
    return error;
}

/* Stops a thread again and again, and ends this process when a stop intercepts
 * a signal. */
static void die_with_a_signal(pid_t tid)
{
    struct otelread_tracer tracer;
    struct otelread_tracee tracee;
    uint64_t stopped_ns;
    int error;

    otelread_tracer_begin(&tracer);
    do {
        error = stop_thread(&tracee, tid);
        if (error != 0)
            break;
        if (tracee.signal != 0)
            kill(getpid(), SIGKILL);
        error = otelread_tracee_release(&tracee, &stopped_ns);
    } while (error == 0);
    _exit(-error);
}

Test(reader_threads_stopping, a_reader_that_is_killed_takes_no_signal_with_it,
     .init = share_memory)
{
    const struct target target = target_start(counting);
    const pid_t sender = send_queued(&target);
    int status = 0;

    for (int i = 0; i < 40; i++) {
        const pid_t reader = fork();

        if (reader == 0)
            die_with_a_signal(target.pid);
        cr_assert_eq(waitpid(reader, &status, 0), reader);
        cr_assert(WIFSIGNALED(status), "%s", strerror(WEXITSTATUS(status)));
    }
    expect_queued(sender);
    target_end(&target);
}

static void lead_a_group(void)
{
    setpgid(0, 0);
}

/* As Control-Z does: SIGTSTP to a process group that is not orphaned. */
Test(reader_threads_stopping,
     a_reader_that_is_suspended_leaves_no_thread_stopped, .init = share_memory)
{
    const struct target target = target_start(many);
    unsigned suspended = 0;

    for (int i = 0; i < 150; i++) {
        struct reader reader = reader_start(
            lead_a_group, WORDS("--json", "--threads", number(target.pid)));
        int status = 0;

        sleep_somewhat();
        kill(reader.pid, SIGTSTP);
        cr_assert_eq(waitpid(reader.pid, &status, WUNTRACED), reader.pid);
        expect_all_free(&target);
        if (WIFSTOPPED(status)) {
            suspended++;
            kill(reader.pid, SIGCONT);
            cr_assert_eq(waitpid(reader.pid, &status, 0), reader.pid);
        }
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        reader_close(&reader);
    }
    cr_expect_gt(suspended, 0);
    target_end(&target);
}

static void ignore_children(void)
{
    signal(SIGCHLD, SIG_IGN);
}

Test(reader_threads_stopping,
     a_reader_whose_parent_ignored_sigchld_is_not_slower, .init = share_memory)
{
    const struct target target = target_start(many);

    EXPECT_STATUS(
        RUN_WITH(ignore_children, "--json", "--threads", number(target.pid)),
        0);
    EXPECT_JSON("[.[0].threads[] | select(.status == \"attached\")] | "
                "length == 49");
    target_end(&target);
}

/* As by another reader. */
Test(reader_threads_stopping,
     the_reader_waits_for_a_thread_that_is_traced_briefly, .init = share_memory)
{
    const struct target target = target_start(many);
    struct reader reader;

    for (int i = 0; i < 5; i++) {
        seize(target.pid);
        cr_assert_eq(ptrace(PTRACE_INTERRUPT, target.pid, NULL, NULL), 0);
        cr_assert_eq(waitpid(target.pid, NULL, 0), target.pid);
        reader = reader_start(NULL,
                              WORDS("--json", "--threads", number(target.pid)));
        sleep_ms(30);
        cr_assert_eq(ptrace(PTRACE_DETACH, target.pid, NULL, NULL), 0);
        EXPECT_STATUS(reader_finish(reader), 0);
        EXPECT_JSON(".[0].threads[0].status == \"detached\"");
    }
    target_end(&target);
}

/* ---- for how long ------------------------------------------------------- */

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The thread whose stop waitid reports late, and when it had stopped. */
static pid_t seen_late;
static uint64_t stood_still_ns;

/* Instead of libc's: on a busy machine, the reader runs late after a stop. */
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (seen_late != 0) {
        EVENTUALLY(state_of(seen_late, seen_late) == 't');
        seen_late = 0;
        stood_still_ns = monotonic_ns();
        sleep_ms(20);
    }
    return (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

Test(reader_threads_stopping, a_thread_is_stopped_no_longer_than_reported,
     .init = share_memory)
{
    const struct target target = target_start(many);
    struct otelread_tracer tracer;
    struct otelread_tracee tracee;
    uint64_t stopped_ns = 0;

    otelread_tracer_begin(&tracer);
    seen_late = target.pid;
    cr_assert_eq(stop_thread(&tracee, target.pid), 0);
    const uint64_t stood_ns = monotonic_ns() - stood_still_ns;
    cr_assert_eq(otelread_tracee_release(&tracee, &stopped_ns), 0);
    otelread_tracer_end(&tracer);
    cr_expect_geq(stopped_ns, stood_ns);
    target_end(&target);
}
