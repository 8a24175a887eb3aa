/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_OPTIONS_H
#define OTELREAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct otelread_options {
    bool json;
    bool raw;
    bool watch;
    bool all;
    bool threads;
    bool no_stop;
    bool help;
    bool version;
    pid_t *pids; /* in the order given; to be freed */
    size_t count;
};

/* 0, or a status to exit with after what went to standard error. */
int otelread_options_parse(struct otelread_options *options, int argc,
                           char **argv);

extern const char otelread_usage[];

#endif
