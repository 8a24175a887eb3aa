/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/options.h"

#include <stdbool.h>
#include <stddef.h>

struct otelread_options {
    bool json;
    bool raw;
    bool watch;
    bool all;
    bool list;
    bool threads;
    bool no_stop;
    bool why;
    bool help;
    bool version;
    const char *check_config; /* the path of a file, or NULL */
    char **words;             /* numbers and names of processes */
    size_t count;
};

/* Returns 0, or an exit status after a message on standard error. */
int otelread_options_parse(struct otelread_options *options, int argc,
                           char **argv);

extern const struct otelbase_program otelread_program;
