/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the calling thread shows: a request of one connection, or nothing. */

#include <stdbool.h>

#include "shim/base/tls_offset.h" /* for a compiler without TLSDESC */
#include "shim/requests/stream.h"

enum {
    OTELCTX_DESCRIPTORS = 16384 /* greater ones are never looked at */
};

extern __thread struct otelctx_shown {
    bool busy;  /* a signal handler must change nothing */
    bool shows; /* what is attached is this library's */
    bool loops; /* has waited for several connections at once */
    int fd;     /* of the connection that is shown */
    struct otelctx_traceparent trace; /* zero: attributes alone */
} otelctx_shown;

/* Where the labels of the descriptor are to be kept. NULL: none are wanted. */
struct otelctx_labels *otelctx_shown_labels(int fd);

/* Between enter, if it succeeds, and leave: a signal handler that interrupts a
 * change changes nothing. */
bool otelctx_shown_enter(void);
void otelctx_shown_leave(void);

/* Show the latest request of the connection, or nothing if that has no trace
 * and no label. False: it is no connection. */
bool otelctx_show(int fd, struct otelctx_stream *stream);
void otelctx_hide(void);

/* Hide, if the thread can be entered. */
void otelctx_shown_end(void);
