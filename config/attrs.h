/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/*
 * The format of OTEL_RESOURCE_ATTRIBUTES.
 *
 *   attributes = member *( "," member )
 *   member     = OWS [ key OWS "=" OWS value ] OWS   ; empty members count for
 *   key        = 1*text                              ; nothing
 *   value      = *text                               ; may hold "="
 *   text       = "%" 2HEXDIG / any byte but "," "%" NUL
 *   OWS        = *( SP / HTAB / CR / LF / VT / FF )
 *
 * Decoded keys and values are UTF-8 without NUL. "+" and ";" mean themselves.
 * Rule: OpenTelemetry specification, "Specifying resource information via an
 * environment variable".
 */
struct otelctx_attrs {
    struct otelctx_span text; /* all of it */
    struct otelctx_span rest; /* what has not been read yet */
    char *scratch;            /* for one decoded key and value */
    size_t scratch_size;
};

struct otelctx_pair {
    struct otelctx_span key, value; /* decoded, in the scratch */
    size_t pos;                     /* of the key in the text, from 1 */
};

struct otelctx_attrs otelctx_attrs_begin(struct otelctx_span text,
                                         char *scratch, size_t scratch_size);

/*
 * The next attribute; pair is good until the next call.
 *
 * Returns 1, 0 at the end, -EINVAL (malformed) or -ENOSPC (longer than the
 * scratch); on failure fault says where and why, and pair is unchanged.
 */
int otelctx_attrs_next(struct otelctx_attrs *it, struct otelctx_pair *pair,
                       struct otelctx_fault *fault);
