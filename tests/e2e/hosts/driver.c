/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A host that makes the calls that it is told on stdin, one a line, and prints
 * what each returned:
 *
 *     set KEY [VALUE]    extra KEY [VALUE]    publish    drop    abi
 *     setlong KEY SIZE   the value is SIZE times "x"
 *     fork               a child goes on in its place; gives the child's pid
 *     key NAME           attach TRACEPARENT    detach    get
 *     attr INDEX VALUE   unset INDEX
 *     pin                1: there is a record
 *     init TRACEPARENT   prepares a record of the program's; its attributes:
 *     recordattr INDEX VALUE
 *     swap    swapout    that record, or nothing, goes in
 *     thread             a second thread makes the calls from here on, until
 *                        `join`; the first one waits
 *     open LIBRARY       by dlopen(3), for all to see
 *
 * Without a value the attribute is removed, without a key it is NULL; "''" is
 * the empty key or value.
 */

#include "shim/otelctx.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
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

/* What is attached, as TRACEPARENT; printed behind the result. */
static char shown[64];

static int show_ids(void)
{
    struct otelctx_ids ids;
    const int result = otelctx_get(&ids);
    char *at = shown;

    if (result)
        return result;
    at = stpcpy(at, " 00-");
    for (size_t i = 0; i < sizeof(ids.trace_id); i++)
        at += sprintf(at, "%02x", ids.trace_id[i]);
    *at++ = '-';
    for (size_t i = 0; i < sizeof(ids.span_id); i++)
        at += sprintf(at, "%02x", ids.span_id[i]);
    sprintf(at, "-%02x", ids.trace_flags);
    return 0;
}

/* A record of the program's own. */
static struct otelctx_record record;

static int init(const char *traceparent)
{
    uint8_t id[24];

    for (size_t i = 0; i < sizeof(id); i++) {
        const char *const digits = traceparent + 3 + 2 * i + (i >= 16);

        sscanf(digits, "%2hhx", &id[i]);
    }
    return otelctx_record_init(&record, id, id + 16, 1);
}

static void make_calls(void);

static void *thread(void *unused)
{
    make_calls();
    return unused;
}

static int go_on_in_thread(void)
{
    pthread_t id;
    const int err = pthread_create(&id, NULL, thread, NULL);

    return err ? -err : -pthread_join(id, NULL);
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
    if (strcmp(name, "thread") == 0)
        return go_on_in_thread();
    if (strcmp(name, "key") == 0)
        return otelctx_key(text(key));
    if (strcmp(name, "attach") == 0)
        return otelctx_attach_traceparent(key, strlen(key));
    if (strcmp(name, "detach") == 0)
        return otelctx_detach();
    if (strcmp(name, "get") == 0)
        return show_ids();
    if (strcmp(name, "attr") == 0)
        return otelctx_attr((uint8_t)strtoul(key, NULL, 10), text(value),
                            strlen(text(value)));
    if (strcmp(name, "unset") == 0)
        return otelctx_attr_unset((uint8_t)strtoul(key, NULL, 10));
    if (strcmp(name, "pin") == 0)
        return otelctx_pin() != NULL;
    if (strcmp(name, "init") == 0)
        return init(key);
    if (strcmp(name, "recordattr") == 0)
        return otelctx_record_attr(&record, (uint8_t)strtoul(key, NULL, 10),
                                   text(value), strlen(text(value)));
    if (strcmp(name, "swap") == 0)
        return otelctx_swap(&record, NULL);
    if (strcmp(name, "swapout") == 0)
        return otelctx_swap(NULL, NULL);
    if (strcmp(name, "open") == 0)
        return dlopen(key, RTLD_NOW | RTLD_GLOBAL) ? 0 : -ENOENT;
    return -EINVAL;
}

static void make_calls(void)
{
    char line[1024];

    while (fgets(line, sizeof(line), stdin)) {
        char *rest;
        char *name = strtok_r(line, " \n", &rest);
        char *key = strtok_r(NULL, " \n", &rest);
        char *value = strtok_r(NULL, "\n", &rest);
        int result;

        if (!name)
            continue;
        if (strcmp(name, "join") == 0)
            return;
        shown[0] = '\0';
        errno = 77;
        result = call(name, key, value);
        printf("%s %d%s%s\n", name, result, shown,
               errno == 77 ? "" : " errno changed");
    }
}

int main(void)
{
    setlinebuf(stdout);
    make_calls();
    return 0;
}
