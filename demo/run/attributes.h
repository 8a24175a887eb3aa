/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"
#include "demo/run/environment.h"

/* Has OTEL_RESOURCE_ATTRIBUTES a value for the key that is not empty? For
 * "service.name", OTEL_SERVICE_NAME counts as well. */
bool otelrun_attributes_have(const struct otelrun_environment *e,
                             struct otelctx_span key);

/* Sets one attribute in OTEL_RESOURCE_ATTRIBUTES, percent-encoded, in place of
 * others of that key. */
void otelrun_attributes_set(struct otelrun_environment *e,
                            struct otelctx_span key, struct otelctx_span value);

/* The same, unless it has that key, or the value is NULL or empty or not
 * UTF-8. */
void otelrun_attributes_add(struct otelrun_environment *e, const char *key,
                            const char *value);

/* Why no process may have such an attribute, or NULL. */
const char *otelrun_attributes_refuse(struct otelctx_span key,
                                      struct otelctx_span value);
