/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Processes to read:
 *
 *     reader maps COUNT       one with so many mappings
 *     reader processes COUNT  so many, children of this one
 *     reader stops PID        the bare ptrace(2) round trip: the median of the
 *                             times that a thread of this process is stopped
 *                             for nothing but to read its registers, in
 *                             nanoseconds. As a reader does, it stops each of
 *                             them once: the second time takes a fifth less,
 *                             since the thread is in the caches then
 *
 * The first two say "ready", and end when their input does.
 */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
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

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* How long the thread stands still, or -1. */
static double stop(pid_t tid)
{
    char registers[512];
    struct iovec all = {registers, sizeof(registers)};

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
        return -1;
    const double begin = now_ns();
    (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    (void)waitpid(tid, NULL, __WALL);
    (void)ptrace(PTRACE_GETREGSET, tid, 1 /* NT_PRSTATUS */, &all);
    (void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
    return now_ns() - begin;
}

#define THREADS_MAX 1000

static int stop_each(const char *pid)
{
    static double took[THREADS_MAX];
    size_t count = 0;
    char path[64];
    const struct dirent *entry;

    (void)snprintf(path, sizeof(path), "/proc/%s/task", pid);
    DIR *const tasks = opendir(path);
    if (!tasks)
        return 1;
    while (count < THREADS_MAX && (entry = readdir(tasks))) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid == 0)
            continue; /* . and .. */
        took[count] = stop(tid);
        if (took[count++] < 0)
            return 1;
    }
    (void)closedir(tasks);
    if (count == 0)
        return 1;
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
        return stop_each(words[2]);
    return 2;
}
