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
 *     openlocal LIBRARY  the same, for itself
 *     close              by dlclose(3), what was opened last
 *     env NAME           what getenv says; setenv NAME VALUE, unsetenv NAME,
 *                        putenv NAME=VALUE and clearenv change that
 *     exec               the program starts anew
 *     filter [raw]       from here on, memfd_create, prctl and getrandom are
 *                        deadly; raw: past libc, with inherited no-new-privs
 *     dumpable           asks libc's prctl
 *     other HOW          and more, see publisher.h
 *
 * Without a value the attribute is removed, without a key it is NULL; "''" is
 * the empty key or value.
 */

#include "publisher.h"

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

/* By dlopen. */
static void *library;

static int open_library(const char *path, int scope)
{
    library = dlopen(path, RTLD_NOW | scope);
    return library ? 0 : -ENOENT;
}

/* Printed behind the result. */
static char shown[1024];

/* What is attached, as TRACEPARENT. */
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

static int show_variable(const char *name)
{
    const char *const value = getenv(name);

    if (!value)
        return -ENOENT;
    snprintf(shown, sizeof(shown), " %s", value);
    return 0;
}

/* putenv(3) keeps the text. */
static int keep_in_environment(const char *variable)
{
    static char kept[256];

    snprintf(kept, sizeof(kept), "%s", variable);
    return -putenv(kept);
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

/* Prints the answer first: after a successful exec nobody could. */
static int start_anew(void)
{
    puts("exec 0");
    execl("/proc/self/exe", "driver", (char *)NULL);
    return -errno;
}

/* Names for the codes in <linux/filter.h>, a header that musl-gcc does not
 * find: load the number of the system call, compare it, return. */
static int filter(bool raw)
{
    enum {
        LOAD = 0x20,
        IF_IS = 0x15,
        RETURN = 0x06,
        ALLOW = 0x7fff0000
    };
    static const struct {
        uint16_t code;
        uint8_t if_true, if_false;
        uint32_t value;
    } code[] = {
        {LOAD, 0, 0, 0},          {IF_IS, 2, 0, SYS_memfd_create},
        {IF_IS, 1, 0, SYS_prctl}, {IF_IS, 0, 1, SYS_getrandom},
        {RETURN, 0, 0, 0}, /* kills */
        {RETURN, 0, 0, ALLOW},
    };
    const struct {
        uint16_t size;
        const void *code;
    } all = {sizeof(code) / sizeof(code[0]), code};

    if (raw)
        return syscall(SYS_seccomp, 1L, 0L, &all) ? -errno : 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L))
        return -errno;
    return prctl(PR_SET_SECCOMP, 2L, &all) ? -errno : 0;
}

/* What has nothing to do with the API. */
static int call_other(const char *name, const char *key, const char *value)
{
    if (strcmp(name, "env") == 0)
        return show_variable(key);
    if (strcmp(name, "setenv") == 0)
        return -setenv(key, text(value), 1);
    if (strcmp(name, "unsetenv") == 0)
        return -unsetenv(key);
    if (strcmp(name, "putenv") == 0)
        return keep_in_environment(key);
    if (strcmp(name, "clearenv") == 0)
        return -clearenv();
    if (strcmp(name, "exec") == 0)
        return start_anew();
    if (strcmp(name, "filter") == 0)
        return filter(key);
    if (strcmp(name, "dumpable") == 0)
        return prctl(PR_GET_DUMPABLE);
    return publisher_does(name, key);
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
        return otelctx_pin() ? 1 : 0;
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
        return open_library(key, RTLD_GLOBAL);
    if (strcmp(name, "openlocal") == 0)
        return open_library(key, RTLD_LOCAL);
    if (strcmp(name, "close") == 0)
        return dlclose(library);
    return call_other(name, key, value);
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
