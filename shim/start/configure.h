/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shim/start/settings.h"

/* Do the settings say anything that otelctx_stage() would stage? */
bool otelctx_stage_has_any(const struct otelctx_settings *s);

/*
 * Stage what the settings say: the resource, the extra attributes, the keys of
 * thread attributes. What is wrong with one of them is reported, and that one
 * does not count. Call between otelctx_guard_enter() and
 * otelctx_guard_leave().
 *
 * Returns how many attributes the user gave.
 */
int otelctx_stage(struct otelctx_settings *s);
