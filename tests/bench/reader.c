/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Processes to read:
 *
 *     reader maps COUNT       one with so many mappings
 *     reader processes COUNT  so many, children of this one
 *     reader stops COUNT      the bare ptrace(2) round trip: the mean time that
 *                             a child is stopped for nothing but to read its
 *                             registers, in nanoseconds
 *
 * The first two say "ready", and end when their input does.
 */

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

static int stop_again_and_again(size_t count)
{
    const pid_t child = fork();
    double sum = 0;
    char registers[512];
    struct iovec all = {registers, sizeof(registers)};

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    for (size_t i = 0; i < count; i++) {
        double begin;

        if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
            return 1;
        begin = now_ns();
        (void)ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
        (void)waitpid(child, NULL, __WALL);
        all.iov_len = sizeof(registers);
        (void)ptrace(PTRACE_GETREGSET, child, 1 /* NT_PRSTATUS */, &all);
        (void)ptrace(PTRACE_DETACH, child, NULL, NULL);
        sum += now_ns() - begin;
    }
    kill(child, SIGKILL);
    printf("%.1f\n", sum / (double)count);
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
