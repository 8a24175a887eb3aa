/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_TRACE_H
#define OTELRUN_TRACE_H

/* A new traceparent with random ids, sampled. Rule: W3C Trace Context,
 * "traceparent Header". */
const char *otelrun_trace_make(void);

#endif
