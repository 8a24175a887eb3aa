/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/options.h"
#include "demo/run/environment.h"
#include "demo/run/own_options.h"

/*
 * Reads the command line, and sets in the environment what its options say
 * there. The options are those of one table of this program, and one for each
 * row of config/options.c: OTELCTX_LOG_LEVEL is --log-level.
 *
 * Returns 0, or OTELRUN_FAILURE after a message on standard error.
 */
int otelrun_options_parse(struct otelrun_options *options,
                          struct otelrun_environment *e, char **argv);

/* The name of a row's option: OTELCTX_LOG_LEVEL is "log-level"; NULL where an
 * option of own_options.h is there for it, or the library sets it. */
const char *otelrun_option_name(enum otelctx_option_id id);

/* Prints what --help prints: all options. */
void otelrun_usage_print(void);
