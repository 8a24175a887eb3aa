/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/process/key_map.h"

/*
 * Limits of the reference reader and of ctx-sharing-demo that OTEP 4719 does
 * not set. The shim publishes a payload that exceeds one, because the eBPF
 * profiler, OBI and the datadog-agent read it.
 *
 * Returns the limit that the payload exceeds, as text for the log, or NULL.
 */
const char *
otelctx_reader_limits_exceeded(const struct otelctx_payload *payload);

/* The same for the keys of thread attributes. */
const char *otelctx_reader_limits_of_keys(const struct otelctx_key_map *keys);
