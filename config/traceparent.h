/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "config/span.h"

/* The flags that have a meaning: sampled and random-trace-id. */
enum {
    OTELCTX_TRACE_FLAGS = 0x03
};

/*
 * The trace context that a caller hands on.
 *
 *   traceparent = version "-" trace-id "-" parent-id "-" trace-flags [ rest ]
 *   version     = 2HEXDIGLC      ; not "ff"
 *   trace-id    = 32HEXDIGLC     ; not all zero
 *   parent-id   = 16HEXDIGLC     ; not all zero
 *   trace-flags = 2HEXDIGLC
 *   rest        = "-" *any       ; never in version 00
 *
 * Rule: W3C Trace Context, "traceparent Header" and "Versioning of
 * traceparent".
 */
struct otelctx_traceparent {
    uint8_t trace_id[16];
    uint8_t span_id[8];
    uint8_t flags; /* of OTELCTX_TRACE_FLAGS */
};

/* Returns 0 or -EINVAL: fault says where and why, and *out is unchanged. */
int otelctx_traceparent_parse(struct otelctx_span text,
                              struct otelctx_traceparent *out,
                              struct otelctx_fault *fault);
