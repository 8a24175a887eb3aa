/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a request is, besides its trace. Nothing of a query string, a body, a
 * cookie or a statement's values. */

#include <stdint.h>

#include "config/span.h"

enum otelctx_label {
    OTELCTX_METHOD,
    OTELCTX_PATH,
    OTELCTX_ROUTE,
    OTELCTX_OPERATION,
    OTELCTX_LABELS
};

enum {
    OTELCTX_LABEL_LIMIT = 127 /* bytes of a value, which is cut there */
};

struct otelctx_labels {
    uint8_t sizes[OTELCTX_LABELS]; /* 0: not known */
    char text[OTELCTX_LABELS][OTELCTX_LABEL_LIMIT];
};

/* A value with a byte that is not printable ASCII is left out. */
void otelctx_labels_set(struct otelctx_labels *labels, enum otelctx_label which,
                        struct otelctx_span value);

/* Path and route of the target of an HTTP request, RFC 9112, "Request Target":
 * up to its query or to the first parameter. The route is the path with "*" for
 * each segment of digits, or of at least 16 hexadecimal digits and "-". */
void otelctx_labels_set_target(struct otelctx_labels *labels,
                               struct otelctx_span target);

/* The operation is the statement's first word. */
void otelctx_labels_set_statement(struct otelctx_labels *labels,
                                  struct otelctx_span statement);

/* Labels that are NULL are cleared, too. */
static inline void otelctx_labels_clear(struct otelctx_labels *labels)
{
    if (labels)
        memset(labels->sizes, 0, sizeof(labels->sizes));
}
