/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELREAD_CHECK_VALUE_H
#define OTELREAD_CHECK_VALUE_H

#include "config/options.h"

#include <stdbool.h>

/*
 * What is wrong with the value of an option, as the shim will find it.
 * Returns 0, or -EINVAL with the fault.
 */
int otelread_check_value(enum otelctx_option_id id, struct otelctx_span value,
                         struct otelctx_fault *fault);

/*
 * What the shim accepts, and the user hardly means. Returns whether there is
 * something of that kind; the fault says what.
 */
bool otelread_doubt_value(enum otelctx_option_id id, struct otelctx_span value,
                          struct otelctx_fault *fault);

#endif
