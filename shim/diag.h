/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_DIAG_H
#define OTELCTX_DIAG_H

#include <stdint.h>

#include "config/options.h"
#include "config/span.h"

/*
 * One line for people, put together piece by piece and sent whole. What does
 * not fit is cut; all but printable ASCII becomes "?", so that nothing from a
 * file or the environment can act on a terminal.
 */
struct otelctx_line {
    size_t size;
    char text[480]; /* below PIPE_BUF: never split, never blocks after poll */
};

/* Which lines are sent from here on; at first none. */
void otelctx_diag_set_level(enum otelctx_log_level level);

/*
 * The program begins: from here on lines are sent only when the user asked for
 * OTELCTX_LOG_INFO or more, and as long as descriptor 2 is still that file.
 */
void otelctx_diag_end_start(void);

/* Begin "otelctx[PID]: LEVEL: "; false when that level is not sent. */
bool otelctx_line_begin(struct otelctx_line *line,
                        enum otelctx_log_level level);
void otelctx_line_text(struct otelctx_line *line, const char *text);
void otelctx_line_span(struct otelctx_line *line, struct otelctx_span text);
void otelctx_line_number(struct otelctx_line *line, uint64_t number);
/* Adds " (errno N)"; err is -errno. */
void otelctx_line_errno(struct otelctx_line *line, int err);

/* Write the line to stderr; no failure of stderr reaches the host. */
void otelctx_line_send(struct otelctx_line *line);

/* All of it, when it is one text. */
void otelctx_line_tell(enum otelctx_log_level level, const char *text);

#endif
