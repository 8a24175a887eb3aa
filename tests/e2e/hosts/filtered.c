/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a command under a seccomp filter:
 *
 *     filtered refuse ACTION CALL... -- COMMAND...
 *     filtered allow ACTION CALL... -- COMMAND...
 *
 * ACTION, "kill", "trap" or an errno, is for these system calls, or for all
 * others.
 */

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t action(const char *name)
{
    if (strcmp(name, "kill") == 0)
        return SCMP_ACT_KILL_PROCESS;
    if (strcmp(name, "trap") == 0)
        return SCMP_ACT_TRAP;
    return SCMP_ACT_ERRNO((uint16_t)atoi(name));
}

static int add(scmp_filter_ctx filter, uint32_t what, const char *name)
{
    const int call = seccomp_syscall_resolve_name(name);

    return call == __NR_SCMP_ERROR ||
           seccomp_rule_add(filter, what, call, 0) != 0;
}

int main(int argc, char **argv)
{
    const int refuse = argc > 2 && strcmp(argv[1], "refuse") == 0;
    uint32_t listed, others;
    scmp_filter_ctx filter;
    char **word = argv + 3;

    if (argc < 5)
        return 125;
    listed = refuse ? action(argv[2]) : SCMP_ACT_ALLOW;
    others = refuse ? SCMP_ACT_ALLOW : action(argv[2]);
    filter = seccomp_init(others);
    for (; *word && strcmp(*word, "--") != 0; word++) {
        if (add(filter, listed, *word)) {
            (void)fprintf(stderr, "filtered: no system call %s\n", *word);
            return 125;
        }
    }
    if (!*word || seccomp_load(filter)) {
        perror("filtered");
        return 125;
    }
    execvp(word[1], word + 1);
    perror(word[1]);
    return 126;
}
