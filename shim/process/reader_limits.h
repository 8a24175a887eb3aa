/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_READER_LIMITS_H
#define OTELCTX_PROCESS_READER_LIMITS_H

#include "shim/process/key_map.h"

/*
 * The limits of the reference reader and of ctx-sharing-demo, which OTEP 4719
 * does not have. A payload that exceeds one is published all the same: the eBPF
 * profiler, OBI and the datadog-agent read it.
 *
 * Returns the limit that the payload exceeds, as text for the log, or NULL.
 */
const char *
otelctx_reader_limits_exceeded(const struct otelctx_payload *payload);

/* The same of the keys of thread attributes. */
const char *otelctx_reader_limits_of_keys(const struct otelctx_key_map *keys);

#endif
