/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host that makes the calls that it is told on stdin, one a line, and prints
 * what each returned:
 *
 *     set KEY [VALUE]    extra KEY [VALUE]    publish    drop    abi
 *     setlong KEY SIZE   the value is SIZE times "x"
 *     fork               a child goes on in its place; gives the child's pid
 *
 * Without a value the attribute is removed, without a key it is NULL; "''" is
 * the empty key or value.
 */

#include "shim/otelctx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *text(const char *word)
{
    return word && strcmp(word, "''") == 0 ? "" : word;
}

static int set_long(const char *key, size_t size)
{
    char *value = calloc(size + 1, 1);
    int result;

    memset(value, 'x', size);
    result = otelctx_process_set(key, value);
    free(value);
    return result;
}

static int go_on_in_child(void)
{
    const pid_t child = fork();

    if (child > 0) {
        waitpid(child, NULL, 0);
        _exit(0);
    }
    return child < 0 ? -errno : getpid();
}

static int call(const char *name, const char *key, const char *value)
{
    if (strcmp(name, "set") == 0)
        return otelctx_process_set(text(key), text(value));
    if (strcmp(name, "extra") == 0)
        return otelctx_process_set_extra(text(key), text(value));
    if (strcmp(name, "setlong") == 0)
        return set_long(key, strtoul(value, NULL, 10));
    if (strcmp(name, "publish") == 0)
        return otelctx_process_publish();
    if (strcmp(name, "drop") == 0)
        return otelctx_process_drop();
    if (strcmp(name, "abi") == 0)
        return otelctx_abi();
    if (strcmp(name, "fork") == 0)
        return go_on_in_child();
    return -EINVAL;
}

int main(void)
{
    static char line[1024];

    setlinebuf(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        char *name = strtok(line, " \n");
        char *key = strtok(NULL, " \n");
        char *value = strtok(NULL, "\n");
        int result;

        if (!name)
            continue;
        errno = 77;
        result = call(name, key, value);
        printf("%s %d%s\n", name, result, errno == 77 ? "" : " errno changed");
    }
    return 0;
}
