/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/options.h"

/* What is wrong with settings, as the shim finds it when it starts. */

/*
 * Check the value of one option.
 *
 * Returns 0, or -EINVAL: fault says where and what was expected.
 */
int otelctx_check_value(enum otelctx_option_id id, struct otelctx_span value,
                        struct otelctx_fault *fault);

/* Return whether the value counts but is hardly meant; fault says where and
 * why. */
bool otelctx_check_doubt(enum otelctx_option_id id, struct otelctx_span value,
                         struct otelctx_fault *fault);

/* Return why the other options leave no key in OTELCTX_ATTRIBUTE_KEYS, as what
 * was expected there, or NULL. */
const char *otelctx_check_keys(const struct otelctx_options *options);
