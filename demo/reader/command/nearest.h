/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/span.h"

/*
 * The option of a configuration file that somebody who wrote this name is
 * likely to mean, or NULL.
 */
const char *otelread_nearest_option(struct otelctx_span name);
