/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"
#include "demo/run/environment.h"

/* Turns the variables that pods get by the downward API, for the OpenTelemetry
 * injector or by the OpenTelemetry operator, into the attributes that they
 * name. An attribute that is set stays.
 *
 * Returns 0, or -EINVAL: fault says what is wrong with the list, of which
 * nothing counts. */
#define OTELRUN_INJECTOR_LIST "OTEL_INJECTOR_RESOURCE_ATTRIBUTES"
int otelrun_injector_apply(struct otelrun_environment *e,
                           struct otelctx_fault *fault);
