/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/helper.h"

#include "demo/reader/os/clock.h"
#include "demo/reader/os/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * How long to wait for a helper that is blocked. Each timeout halves it, so
 * that many such targets do not hold up a reader of all processes.
 */
#define PATIENCE_MAX_MS 600
#define PATIENCE_MIN_MS 100
#define STEP_MS         50

/* How long to wait for a helper that runs, or is ready to run. */
#define BUSY_LIMIT_NS UINT64_C(10000000000)

/* How long a helper that was killed may take to end. */
#define KILL_TRIES    100
#define KILL_PAUSE_NS 1000000

#define ABANDONED_MAX 8

/* Memory that reader and helper share. */
struct area {
    otelread_helper_work *work;
    struct otelread_target target;
    int result;
    _Alignas(16) unsigned char request[OTELREAD_REQUEST_MAX];
    _Alignas(16) unsigned char answer[OTELREAD_ANSWER_MAX];
};

/*
 * A helper that outlives SIGKILL: a FUSE server has taken its request, and the
 * kernel does not let it end before the server answers or ends. At most one for
 * each target.
 */
struct abandoned {
    pid_t helper;
    pid_t target;
};

static struct {
    struct area *area;
    pid_t pid; /* 0: there is none */
    int socket;
    unsigned patience_ms;
    struct abandoned abandoned[ABANDONED_MAX];
} helper = {.patience_ms = PATIENCE_MAX_MS};

/* ---- the helper --------------------------------------------------------- */

/* While the helper is blocked, every pipe that it inherited stays open. */
static void descriptors_close(int but)
{
    const long limit = 1024;

    if (dup2(but, 0) < 0)
        _exit(1);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 1U, ~0U, 0U) == 0)
        return;
#endif
    for (int fd = 1; fd < limit; fd++)
        (void)close(fd);
}

static void request_do(struct area *area)
{
    struct otelread_target target = {.pid = area->target.pid,
                                     .found = area->target.found,
                                     .task = area->target.task,
                                     .started = area->target.started,
                                     .memory = -1,
                                     .may_wait = true};

    area->result = area->work(&target, area->request, area->answer);
    otelread_target_close(&target);
}

__attribute__((noreturn)) static void serve(struct area *area, int fd,
                                            pid_t parent)
{
    char byte;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    descriptors_close(fd);
    (void)!chdir("/");
    while (read(0, &byte, 1) == 1) {
        request_do(area);
        if (write(0, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

/* ---- its life ----------------------------------------------------------- */

static bool is_reaped(pid_t pid)
{
    for (int i = 0; i < KILL_TRIES; i++) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return true; /* with SIGCHLD ignored, the kernel reaps it */
        otelread_sleep_ns(KILL_PAUSE_NS);
    }
    return false;
}

static struct abandoned *abandoned_find(pid_t target)
{
    for (size_t i = 0; i < ABANDONED_MAX; i++) {
        if (helper.abandoned[i].target == target)
            return &helper.abandoned[i];
    }
    return NULL;
}

static void abandoned_sweep(void)
{
    for (size_t i = 0; i < ABANDONED_MAX; i++) {
        struct abandoned *const one = &helper.abandoned[i];

        if (one->helper != 0 && waitpid(one->helper, NULL, WNOHANG) != 0)
            *one = (struct abandoned){.helper = 0};
    }
}

/* Ends the helper. target is the one that it works for, or 0. */
static void stop(pid_t target)
{
    if (helper.pid == 0)
        return;
    (void)close(helper.socket);
    (void)kill(helper.pid, SIGKILL);
    if (target == 0) /* it is idle, so SIGKILL ends it */
        while (waitpid(helper.pid, NULL, 0) < 0 && errno == EINTR)
            ;
    else if (!is_reaped(helper.pid))
        *abandoned_find(0) = (struct abandoned){helper.pid, target};
    helper.pid = 0;
}

void otelread_helper_end(void)
{
    stop(0);
}

uint64_t otelread_helper_cpu_ns(void)
{
    struct timespec time;
    clockid_t clock;

    if (helper.pid == 0 || clock_getcpuclockid(helper.pid, &clock) != 0 ||
        clock_gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static int area_map(void)
{
    if (helper.area)
        return 0;
    void *const area = mmap(NULL, sizeof(*helper.area), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (area == MAP_FAILED)
        return -errno;
    helper.area = area;
    return 0;
}

static int start(void)
{
    const pid_t parent = getpid();
    int ends[2];

    if (helper.pid != 0)
        return 0;
    const int error = area_map();
    if (error != 0)
        return error;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    const pid_t pid = fork();
    if (pid == 0)
        serve(helper.area, ends[1], parent);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return -ENOMEM;
    }
    helper.pid = pid;
    helper.socket = ends[0];
    return 0;
}

/* ---- a request ---------------------------------------------------------- */

/* Whether the helper runs, is ready to, or has run since the last call. */
static bool is_moving(char last[64])
{
    struct otelread_stat stat;
    char path[64];
    char now[64] = "";

    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)helper.pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, now, sizeof(now) - 1) < 0)
            now[0] = '\0';
        (void)close(fd);
    }
    const bool moved = strcmp(last, now) != 0;
    (void)memcpy(last, now, sizeof(now));
    return moved || (otelread_stat_read(helper.pid, helper.pid, &stat) == 0 &&
                     stat.state == 'R');
}

static int answer_wait(void)
{
    const uint64_t start_ns = otelread_monotonic_ns();
    struct pollfd news = {.fd = helper.socket, .events = POLLIN};
    char last[64] = "";
    unsigned still_ms = 0;
    char byte;

    while (still_ms < helper.patience_ms &&
           otelread_monotonic_ns() - start_ns < BUSY_LIMIT_NS) {
        const int ready = poll(&news, 1, STEP_MS);

        if (ready > 0)
            return recv(helper.socket, &byte, 1, 0) == 1 ? 0 : -EPIPE;
        if (ready == 0)
            still_ms = is_moving(last) ? 0 : still_ms + STEP_MS;
    }
    return -ETIMEDOUT;
}

static int exchange(void)
{
    const int error = start();

    if (error != 0)
        return error;
    if (send(helper.socket, "", 1, MSG_NOSIGNAL) != 1)
        return -EPIPE;
    return answer_wait();
}

static void give_up(struct otelread_target *target)
{
    stop(target->pid);
    target->silent = true;
    helper.patience_ms = helper.patience_ms / 2 > PATIENCE_MIN_MS
                             ? helper.patience_ms / 2
                             : PATIENCE_MIN_MS;
}

int otelread_helper_ask(struct otelread_target *target,
                        otelread_helper_work *work, const void *request,
                        size_t request_size, void *answer, size_t answer_size)
{
    if (request_size > OTELREAD_REQUEST_MAX ||
        answer_size > OTELREAD_ANSWER_MAX)
        return -E2BIG;
    abandoned_sweep();
    if (abandoned_find(target->pid) || !abandoned_find(0) ||
        target->waited_ns > BUSY_LIMIT_NS)
        target->silent = true;
    if (target->silent)
        return -ETIMEDOUT;

    int error = area_map();
    if (error != 0)
        return error;
    helper.area->work = work;
    helper.area->target = *target;
    if (request_size > 0)
        (void)memcpy(helper.area->request, request, request_size);
    const uint64_t start_ns = otelread_monotonic_ns();
    error = exchange();
    if (error == -EPIPE) { /* PR_SET_PDEATHSIG: its parent thread ended */
        stop(0);
        error = exchange();
    }
    target->waited_ns += otelread_monotonic_ns() - start_ns;
    if (error == -ETIMEDOUT)
        give_up(target);
    if (error != 0)
        return error == -EPIPE ? -EIO : error;
    (void)memcpy(answer, helper.area->answer, answer_size);
    return helper.area->result;
}
