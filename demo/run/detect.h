/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"
#include "demo/run/environment.h"

/*
 * Adds what can be seen from inside: "container", "host", "os" and "process",
 * separated by commas. An attribute that is set stays. Rule: OpenTelemetry
 * semantic conventions, the resources of those names.
 *
 * executable  the path of what is executed; or NULL
 * command     its argv[0]
 *
 * Returns the word that is none of them, or an empty span.
 */
struct otelctx_span otelrun_detect(struct otelrun_environment *e,
                                   const char *words, const char *executable,
                                   const char *command);
