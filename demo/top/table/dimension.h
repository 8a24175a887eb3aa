/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/table/window.h"

#include <stddef.h>

#define OTELTOP_DIMENSIONS_MAX 8

/* The longest value that is built in `room`: a name and a number. */
#define OTELTOP_VALUE_SIZE 128

/* The dimensions of --by, the outermost first. names are the user's. */
struct oteltop_dimensions {
    const char *names[OTELTOP_DIMENSIONS_MAX];
    size_t count;
    char *text; /* owns the names */
};

/*
 * Reads "service,http.route": service, process, thread, trace, span, state,
 * container, pod, cgroup, or a key of thread or resource attributes.
 * Returns 0, -EINVAL (an empty name), -E2BIG or -ENOMEM; then *out is what it
 * was.
 */
int oteltop_dimensions_parse(struct oteltop_dimensions *out, const char *text);

void oteltop_dimensions_free(struct oteltop_dimensions *dimensions);

/* The value of a cell in this dimension, neither NULL nor empty. `room` is for
 * values that are not stored elsewhere. */
const char *oteltop_dimension_value(const char *name,
                                    const struct oteltop_cell *cell,
                                    char room[OTELTOP_VALUE_SIZE]);
