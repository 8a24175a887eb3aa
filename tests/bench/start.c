/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a preload costs a process: its start, and that of each forked child.
 *
 * Compiled six times: the benchmark, and with FLOOR the libraries that it is
 * compared with. They have neither libc nor anything else.
 */

#ifdef FLOOR

enum floor {
    EMPTY, /* what any preload costs */
    BARE,  /* publishes by bare system calls, in a constructor */
    FORKS, /* and in each forked child, once it knows that it may */
    LOOKS, /* publishes nothing, once it knows which program this is */
    WAITS, /* publishes nothing, unless it is asked to */
};

#if FLOOR != 0

#include <stddef.h>
#include <stdint.h>

#include "shim/base/sys.h"

/* The system calls of OTEP 4719, "Publication Protocol". */
static void publish(void)
{
    enum {
        PAGE = 4096
    };
    static const char name[] = "FLOOR_CTX";
    const int fd = otelctx_sys_memfd(name, true);
    uint64_t now_ns = 0;
    void *at = NULL;

    (void)otelctx_sys_truncate(fd, PAGE);
    if (otelctx_sys_map(PAGE, fd, &at))
        return;
    (void)otelctx_sys_dont_fork(at, PAGE);
    (void)otelctx_sys_close(fd);
    (void)otelctx_sys_boottime(&now_ns);
    *(uint64_t *)at = now_ns;
    (void)otelctx_sys_name(at, PAGE, name);
}

/* In a child the shim must also ask whether it may: a seccomp filter kills for
 * unknown system calls, ftruncate(2) kills beyond the limit of file sizes. */
static void publish_in_child(void)
{
    uint64_t limit;

    (void)otelctx_sys_seccomp();
    (void)otelctx_sys_file_size_limit(&limit);
    publish();
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
                             void (*child)(void), void *dso)
    __attribute__((weak));

__attribute__((constructor)) static void start(void)
{
    char path[4096];
    bool has_text;
    int file;

    if (FLOOR == BARE || FLOOR == FORKS)
        publish();
    else if ((file = otelctx_sys_open_file("/etc/otelctx/otelctx.conf",
                                           &has_text)) >= 0)
        (void)otelctx_sys_close(file); /* elsewhere there is none */
    if (FLOOR == LOOKS)
        (void)otelctx_sys_executable(path, sizeof(path));
    if ((FLOOR == FORKS || FLOOR == WAITS) && __register_atfork)
        (void)__register_atfork(NULL, NULL, publish_in_child, NULL);
}

#endif

#else

#include "tests/bench/bench.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* start FORKS: the mean time to fork this process and wait for the child. */
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

/* The time to start a program that does nothing and wait for its end. Of the
 * arguments up to an empty one, those up to a path are put before its
 * environment; the path and what follows is a command that starts it. */
static double start_and_wait(char **words)
{
    char *command[16] = {"/bin/true", NULL};
    char *all[512];
    size_t count = 0;
    double begin;
    pid_t child;

    for (; (*words)[0] != '\0' && (*words)[0] != '/'; words++)
        all[count++] = *words;
    for (char **at = environ; *at && count < 500; at++)
        all[count++] = *at;
    all[count] = NULL;
    for (size_t i = 0; (*words)[0] != '\0' && i < 15; words++, i++) {
        command[i] = *words;
        command[i + 1] = NULL;
    }
    begin = bench_now_ns();
    if (posix_spawn(&child, command[0], NULL, NULL, command, all))
        exit(2);
    waitpid(child, NULL, 0);
    return bench_now_ns() - begin;
}

/* Shuffle the subjects, because each one changes the caches for the next. */
static void shuffle(char ***subjects, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)rand() % i;
        char **const subject = subjects[i - 1];

        subjects[i - 1] = subjects[other];
        subjects[other] = subject;
    }
}

/* As in bench.h, where the first subject tells how quiet a round was.
 *
 * start ROUNDS [SUBJECT [NAME=VALUE]... [COMMAND [ARGUMENT]...] '']... */
int main(int count, char **words)
{
    char **subjects[64], **first;
    size_t subject_count = 0;

    if (count < 2 || count > 64)
        return 2;
    bench_pin(); /* children, too */
    if (count == 2) {
        (void)fork_and_wait(5);
        printf("%.3f\n",
               fork_and_wait(bench_number(words[1])) / bench_number(words[1]));
        return 0;
    }
    for (int i = 2; i < count; i++) {
        subjects[subject_count++] = words + i;
        while (++i < count && words[i][0] != '\0')
            ;
    }
    first = subjects[0];
    for (unsigned round = bench_number(words[1]); round > 0; round--) {
        printf("tell\tbefore\t%.3f\n", start_and_wait(first + 1));
        shuffle(subjects, subject_count);
        for (size_t i = 0; i < subject_count; i++)
            printf("start\t%s\t%.3f\n", subjects[i][0],
                   start_and_wait(subjects[i] + 1));
        printf("tell\tafter\t%.3f\n", start_and_wait(first + 1));
    }
    return 0;
}

#endif
