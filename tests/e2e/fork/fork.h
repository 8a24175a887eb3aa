/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * For tests that fork under the shim: what otelctx-read's library, which shares
 * no code with the shim, finds in the children.
 */

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo/reader/report/report.h"
#include "shim/otelctx.h"

/* Exit statuses of a child: nothing wrong, or a fault. */
enum {
    AS_IT_SHOULD_BE = 0,
    NO_CONTEXT = 10,
    NOT_ONE_CONTEXT,
    ANOTHER_VALUE,
    CALL_FAILED,
    NONE_REUSED, /* no stack of the parent in the child */
};

static inline const struct otelread_node *
find_attribute(const struct otelread_node *node, const char *key)
{
    while (node && (node->key.size != strlen(key) ||
                    memcmp(node->key.bytes, key, node->key.size) != 0))
        node = node->next;
    return node;
}

/* The value of a resource attribute, or NULL; valid until the report is
 * freed. */
static inline const struct otelread_node *
attribute(const struct otelread_report *report, const char *key)
{
    return find_attribute(report->contexts.list[0].decoded.resource.first, key);
}

/* A service.instance.id; empty if there is none, or more than one. */
struct instance_id {
    char text[37];
};

static inline struct instance_id
instance_id(const struct otelread_report *report)
{
    static const char key[] = "service.instance.id";
    const struct otelread_node *const node =
        report->contexts.count == 1 ? attribute(report, key) : NULL;
    struct instance_id id = {""};

    if (node && node->span.size == sizeof(id.text) - 1 &&
        !find_attribute(node->next, key))
        memcpy(id.text, node->span.bytes, node->span.size);
    return id;
}

/* Does a reader find one context in the process, with this attribute? If not,
 * this prints on stderr what the reader finds. */
static inline int judge(pid_t pid, const char *key, const char *value)
{
    struct otelread_report report = {0};
    const struct otelread_node *node;
    int fault = AS_IT_SHOULD_BE;

    otelread_report_make(&report, pid, OTELREAD_PATIENCE_LONG);
    if (report.status == OTELREAD_NO_CONTEXT)
        fault = NO_CONTEXT;
    else if (report.status != OTELREAD_OK || report.contexts.count != 1)
        fault = NOT_ONE_CONTEXT;
    else if (!(node = attribute(&report, key)) ||
             node->span.size != strlen(value) ||
             memcmp(node->span.bytes, value, node->span.size) != 0)
        fault = ANOTHER_VALUE;
    if (fault && fault != NO_CONTEXT)
        fprintf(stderr, "process %d, %s: %s\n", (int)pid, key, report.message);
    otelread_report_free(&report);
    return fault;
}

static inline int judge_self(const char *value)
{
    return judge(getpid(), "n", value);
}

/* Publish a number. */
static inline void publish(const char *number)
{
    cr_assert_eq(otelctx_process_set("n", number), 0);
    cr_assert_eq(otelctx_process_publish(), 0);
}

/* The exit status of a child, or 1000 + the signal that killed it. */
static inline int status_of(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        cr_assert_eq(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Without libc, which then runs no atfork handler. */
static inline pid_t raw_fork(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
