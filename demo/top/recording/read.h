/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/top/recording/line.h"

#include <stdio.h>

/* A fault and its place: line and byte count from 1. */
struct oteltop_fault {
    size_t line;
    size_t byte;     /* 0: the line as a whole */
    const char *why; /* NULL: the file could not be read */
};

/* Reads a recording, line by line. A recording that was cut off is read up to
 * the cut. */
struct oteltop_recording {
    FILE *in; /* set by the caller, all else is 0 */
    struct oteltop_line line;
    struct oteltop_fault fault;
    bool complete; /* at the end: the recording was not cut off */
    char *bytes;
    size_t size, room;
};

/*
 * The next line, in recording->line until the next call.
 * Returns 1, 0 at the end, or a negative errno: -EINVAL for a line that is not
 * one of a recording. Then recording->fault tells more.
 */
int oteltop_recording_next(struct oteltop_recording *recording);

void oteltop_recording_free(struct oteltop_recording *recording);
