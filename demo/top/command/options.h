/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "demo/base/options.h"
#include "demo/top/table/dimension.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oteltop_options {
    bool all;
    bool once;
    bool wall;
    bool no_stop;
    bool folded;
    bool help;
    bool version;
    uint64_t duration_ns; /* --for; 0: until a signal */
    unsigned hz;
    struct oteltop_dimensions by;
    const char *by_text; /* the words of --by, which `by` was read from */
    const char *record;  /* paths of files, or NULL */
    const char *replay;
    const char *pprof;
    const char *otlp_json;
    char **words; /* numbers and names of processes */
    size_t count;
};

/* Returns 0, or an exit status after a message on standard error. */
int oteltop_options_parse(struct oteltop_options *options, int argc,
                          char **argv);

extern const struct otelbase_program oteltop_program;
