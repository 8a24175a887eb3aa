/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/dimension.h"
#include "demo/top/table/window.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids of which all bytes are the same. Attributes are "key", "value", ... NULL.
 */
#define TRACE_7 "07070707070707070707070707070707"
#define SPAN_7  "0707070707070707"

static inline void attributes_add(struct oteltop_attributes *to,
                                  const char *const *pairs)
{
    for (; pairs && *pairs; pairs += 2)
        cr_assert_eq(oteltop_attributes_add(to, pairs[0], pairs[1]), 0);
}

static inline struct oteltop_process *process_make(pid_t pid,
                                                   const char *const *resource)
{
    struct oteltop_process *const process = oteltop_process_new(pid);

    cr_assert(process);
    process->command = strdup("/bin/app -x");
    process->context = strdup(resource ? "ok" : "no context");
    attributes_add(&process->resource, resource);
    return process;
}

static inline struct oteltop_span *span_make(struct oteltop_process *process,
                                             uint8_t byte,
                                             const char *const *pairs)
{
    struct oteltop_span like = {.flags = 1};
    struct oteltop_span *span;

    (void)memset(like.trace_id, byte, sizeof(like.trace_id));
    (void)memset(like.span_id, byte, sizeof(like.span_id));
    attributes_add(&like.attributes, pairs);
    span = oteltop_span_intern(process, &like, 0);
    cr_assert(span);
    return span;
}

static inline void add(struct oteltop_window *to, struct oteltop_thread *thread,
                       struct oteltop_span *span, char state, uint64_t cpu_ns)
{
    const struct oteltop_sample sample = {.thread = thread,
                                          .span = span,
                                          .none = span ? NULL : "detached",
                                          .state = state,
                                          .cpu_ns = cpu_ns,
                                          .wall_ns = 2 * cpu_ns + 1000};

    oteltop_window_add(to, &sample);
}

static inline struct oteltop_dimensions by(const char *names)
{
    struct oteltop_dimensions dimensions = {.count = 0};

    cr_assert_eq(oteltop_dimensions_parse(&dimensions, names), 0);
    return dimensions;
}
