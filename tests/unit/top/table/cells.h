/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/model/model.h"
#include "demo/top/table/window.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A process with a context, and one thread, whose tid is its pid. */
static inline struct oteltop_thread *
cells_thread(pid_t pid, const char *command, const char *service)
{
    struct oteltop_process *const process = oteltop_process_new(pid);
    struct oteltop_thread *thread;

    cr_assert_not_null(process);
    process->command = strdup(command);
    process->context = strdup(service ? "ok" : "no_context");
    if (service)
        cr_assert_eq(
            oteltop_attributes_add(&process->resource, "service.name", service),
            0);
    thread = oteltop_thread_new(process, pid, "worker");
    cr_assert_not_null(thread);
    return thread;
}

/* A span of that process: all bytes of its ids are the same. */
static inline struct oteltop_span *cells_span(struct oteltop_thread *thread,
                                              uint8_t id, const char *route,
                                              uint64_t at_ns)
{
    struct oteltop_span like = {.flags = 1};

    memset(like.trace_id, id, sizeof(like.trace_id));
    memset(like.span_id, id, sizeof(like.span_id));
    if (route)
        cr_assert_eq(
            oteltop_attributes_add(&like.attributes, "http.route", route), 0);
    return oteltop_span_intern(thread->process, &like, at_ns);
}

static inline void cells_free(struct oteltop_thread *thread)
{
    oteltop_process_free(thread->process);
    oteltop_thread_free(thread);
}
