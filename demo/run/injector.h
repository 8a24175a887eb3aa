/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELRUN_INJECTOR_H
#define OTELRUN_INJECTOR_H

#include "demo/run/environment.h"

/* Turns the variables that pods get by the downward API, for the OpenTelemetry
 * injector or by the OpenTelemetry operator, into the attributes that they
 * name. An attribute that is set stays. */
void otelrun_injector_apply(struct otelrun_environment *e);

#endif
