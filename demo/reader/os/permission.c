/* SPDX-License-Identifier: Apache-2.0 */
#include "demo/reader/os/permission.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ptrace(2), /proc/sys/kernel/yama/ptrace_scope. */
enum scope {
    SCOPE_NONE, /* also without Yama */
    SCOPE_ANCESTORS,
    SCOPE_CAPABLE,
    SCOPE_NOBODY
};

/*
 * What follows a word at the start of a line of a file, as a number to that
 * base; the first line when the word is empty. Returns 0 without such a line.
 */
static unsigned long long number_in(const char *path, const char *word,
                                    int base)
{
    unsigned long long number = 0;
    const size_t size = strlen(word);
    char line[256];
    FILE *const file = fopen(path, "re");

    if (!file)
        return 0;
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, word, size) != 0)
            continue;
        number = strtoull(line + size, NULL, base);
        break;
    }
    (void)fclose(file);
    return number;
}

static bool has_capability(void)
{
    return number_in("/proc/self/status", "CapEff:", 16) >> CAP_SYS_PTRACE & 1;
}

/* The first user namespace maps all ids, each to itself. */
static bool is_in_user_namespace(void)
{
    unsigned first = 0, outside = 0, count = 0;
    FILE *const file = fopen("/proc/self/uid_map", "re");

    if (!file)
        return false;
    const int fields = fscanf(file, "%u %u %u", &first, &outside, &count);
    (void)fclose(file);
    return fields == 3 && (first != 0 || outside != 0 || count != UINT32_MAX);
}

/* Also false when the process has privileges that its user lacks. */
static bool is_own(pid_t pid)
{
    char path[64];
    struct stat status;

    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return stat(path, &status) == 0 && status.st_uid == geteuid();
}

const char *otelread_permission_advice(pid_t pid)
{
    const unsigned long long scope =
        number_in("/proc/sys/kernel/yama/ptrace_scope", "", 10);

    if (scope == SCOPE_NOBODY)
        return "kernel.yama.ptrace_scope is 3, which forbids this even to root "
               "until the next boot";
    if (has_capability())
        return is_in_user_namespace()
                   ? "CAP_SYS_PTRACE of a user namespace does not reach "
                     "processes outside it: run otelctx-read as root of the "
                     "host"
                   : "otelctx-read has CAP_SYS_PTRACE already: a security "
                     "module (AppArmor, SELinux) or a sandbox (seccomp) "
                     "forbids it";
    if (geteuid() == 0)
        return "this root lacks CAP_SYS_PTRACE: start its container with "
               "--cap-add=SYS_PTRACE, or run otelctx-read on the host";
    if (scope == SCOPE_ANCESTORS && is_own(pid))
        return "run otelctx-read as root, or set kernel.yama.ptrace_scope, "
               "which is 1, to 0";
    if (scope == SCOPE_CAPABLE && is_own(pid))
        return "run otelctx-read as root, or with CAP_SYS_PTRACE: "
               "kernel.yama.ptrace_scope is 2";
    return "run otelctx-read as root, or with CAP_SYS_PTRACE";
}
