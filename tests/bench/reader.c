/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Processes to read:
 *
 *     reader maps COUNT       one with so many mappings
 *     reader processes COUNT  so many, children of this one
 *     reader stops COUNT      the bare ptrace(2) round trip: the median of the
 *                             times that a thread is stopped for nothing but
 *                             to read its registers, in nanoseconds. Each time
 *                             it is another one: a thread that is stopped
 *                             again at once has not slept in between, which
 *                             saves a quarter
 *
 * The first two say "ready", and end when their input does.
 */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int stay(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    return read(STDIN_FILENO, &byte, 1) < 0;
}

/* Every second page is another mapping. */
static int make_mappings(size_t count)
{
    const size_t page = (size_t)getpagesize();
    char *const at = mmap(NULL, count * page, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < count; i += 2)
        if (mprotect(at + i * page, page, PROT_READ)) {
            perror("mprotect (is vm.max_map_count high enough?)");
            return 1;
        }
    return stay();
}

static int make_processes(size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
    return stay();
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Threads that sleep, as those of the reader's target do. */
#define SLEEPERS 50

/* Its id goes where the parent sees it. */
static void *sleeper(void *tid)
{
    atomic_store((atomic_int *)tid, (int)syscall(SYS_gettid));
    for (;;)
        pause();
    return NULL;
}

/* Returns the process of so many, whose ids it stores. */
static pid_t make_sleepers(atomic_int *tids)
{
    const pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0; i < SLEEPERS; i++) {
            pthread_t thread;

            if (pthread_create(&thread, NULL, sleeper, &tids[i]))
                _exit(1);
        }
        for (;;)
            pause();
    }
    for (size_t i = 0; i < SLEEPERS; i++)
        while (atomic_load(&tids[i]) == 0)
            usleep(1000);
    usleep(10000); /* until the last one sleeps */
    return child;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

static int stop_again_and_again(size_t count)
{
    atomic_int *const tids =
        mmap(NULL, SLEEPERS * sizeof(*tids), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double *const took = calloc(count, sizeof(*took));
    char registers[512];
    struct iovec all = {registers, sizeof(registers)};

    if (tids == MAP_FAILED || !took)
        return 1;
    const pid_t child = make_sleepers(tids);
    for (size_t i = 0; i < count; i++) {
        const pid_t tid = atomic_load(&tids[i % SLEEPERS]);
        double begin;

        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
            return 1;
        begin = now_ns();
        (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
        (void)waitpid(tid, NULL, __WALL);
        all.iov_len = sizeof(registers);
        (void)ptrace(PTRACE_GETREGSET, tid, 1 /* NT_PRSTATUS */, &all);
        (void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
        took[i] = now_ns() - begin;
    }
    kill(child, SIGKILL);
    qsort(took, count, sizeof(*took), compare);
    printf("%.1f\n", took[count / 2]);
    return 0;
}

int main(int count, char **words)
{
    const size_t number = count == 3 ? strtoul(words[2], NULL, 10) : 0;

    if (count == 3 && strcmp(words[1], "maps") == 0)
        return make_mappings(number);
    if (count == 3 && strcmp(words[1], "processes") == 0)
        return make_processes(number);
    if (count == 3 && strcmp(words[1], "stops") == 0)
        return stop_again_and_again(number);
    return 2;
}
