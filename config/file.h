/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/span.h"

/*
 * The configuration file: text in memory, of which this takes line after line.
 *
 *   file    = [ line *( LF line ) ]
 *   line    = OWS [ setting / comment ] OWS [ CR ]
 *   setting = NAME OWS "=" OWS value
 *   comment = "#" text
 *   value   = text           ; not between quotes, which nobody means
 *   text    = *( any byte but LF and NUL )
 */
struct otelctx_file {
    struct otelctx_span rest;
    struct otelctx_span text; /* the line read last */
    uint32_t line;            /* its number, from 1 */
};

/* The shim reads at most this many bytes of a configuration file. */
enum {
    OTELCTX_FILE_MAX = 65536
};

/*
 * The next setting; both spans point into the file's text.
 *
 * Returns 1, 0 at the end, or -EINVAL (that line is no setting; fault has the
 * position in the line); the call after a failure goes on with the next line.
 */
int otelctx_file_next(struct otelctx_file *file, struct otelctx_span *name,
                      struct otelctx_span *value, struct otelctx_fault *fault);
