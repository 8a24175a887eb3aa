/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A new traceparent with random ids, sampled. Rule: W3C Trace Context,
 * "traceparent Header". */
const char *otelrun_trace_make(void);
