/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a preload costs a process: its start, and that of each forked child.
 *
 * Compiled four times: the benchmark, and with FLOOR the libraries that it is
 * compared with. They have neither libc nor anything else.
 */

#ifdef FLOOR

enum floor {
    EMPTY, /* what any preload costs */
    BARE,  /* publishes by bare system calls, in a constructor */
    FORKS, /* and in each forked child */
};

#if FLOOR != 0

#include <linux/memfd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#endif
}

static void publish(void)
{
    enum {
        PAGE = 4096,
        SET_VMA = 0x53564d41,
        BOOTTIME = 7
    };
    static const char name[] = "FLOOR_CTX";
    const long fd = call(SYS_memfd_create, (long)name, MFD_CLOEXEC, 0, 0, 0, 0);
    uint64_t now[2] = {0}, *header;
    long at;

    (void)call(SYS_ftruncate, fd, PAGE, 0, 0, 0, 0);
    at = call(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    (void)call(SYS_madvise, at, PAGE, MADV_DONTFORK, 0, 0, 0);
    (void)call(SYS_close, fd, 0, 0, 0, 0, 0);
    (void)call(SYS_clock_gettime, BOOTTIME, (long)now, 0, 0, 0, 0);
    header = (uint64_t *)at;
    header[2] = now[1];
    (void)call(SYS_prctl, SET_VMA, 0, at, PAGE, (long)name, 0);
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso)
    __attribute__((weak));

__attribute__((constructor)) static void start(void)
{
    publish();
    if (FLOOR == FORKS && __register_atfork)
        (void)__register_atfork(NULL, NULL, publish, NULL);
}

#endif

#else

#include "tests/bench/bench.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* start FORKS: of this process, the mean time until a child has ended. */
static double fork_and_wait(unsigned times)
{
    const double begin = bench_now_ns();

    for (unsigned i = 0; i < times; i++) {
        const pid_t child = fork();

        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    return bench_now_ns() - begin;
}

/* The time until a program that does nothing has ended, in an environment that
 * has, before its own variables, those up to an empty word. */
static double start_and_wait(char **variables)
{
    char *const words[] = {"true", NULL};
    char *all[512];
    size_t count = 0;
    double begin;
    pid_t child;

    for (; (*variables)[0] != '\0'; variables++)
        all[count++] = *variables;
    for (char **at = environ; *at && count < 500; at++)
        all[count++] = *at;
    all[count] = NULL;
    begin = bench_now_ns();
    if (posix_spawn(&child, "/bin/true", NULL, NULL, words, all))
        exit(2);
    waitpid(child, NULL, 0);
    return bench_now_ns() - begin;
}

/* start ROUNDS [SUBJECT [NAME=VALUE]... '']... */
int main(int count, char **words)
{
    if (count < 2)
        return 2;
    if (count == 2) {
        (void)fork_and_wait(20);
        printf("%.3f\n",
               fork_and_wait(bench_number(words[1])) / bench_number(words[1]));
        return 0;
    }
    for (unsigned round = bench_number(words[1]); round > 0; round--)
        for (int i = 2; i < count; i++) {
            const char *const subject = words[i];
            char **const variables = words + i + 1;

            while (++i < count && words[i][0] != '\0')
                ;
            printf("start\t%s\t%.3f\n", subject, start_and_wait(variables));
        }
    return 0;
}

#endif
