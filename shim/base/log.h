/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/options.h"
#include "config/span.h"

/* The most verbose level that is written. Before the first call: none. */
void otelctx_log_set_level(enum otelctx_log_level level);

/*
 * Call at the end of the start. From then on lines are written only if the
 * level is OTELCTX_LOG_INFO or more verbose, and only while descriptor 2 is
 * still the same file.
 */
void otelctx_log_end_start(void);

/*
 * Send "otelctx[PID]: LEVEL: " and what the format says, as one line to stderr,
 * if that level is sent; no failure of stderr reaches the host. Each value is a
 * pointer or a size_t:
 *
 *   %s  text that ends in NUL
 *   %t  span
 *   %d  number
 *   %o  number; nothing when it is 0
 *
 * A text of more than 128 bytes is cut and ends in "...". All but printable
 * ASCII becomes "?", so that nothing from a file or the environment can act on
 * a terminal.
 */
void otelctx_log(enum otelctx_log_level level, const char *format, ...);
