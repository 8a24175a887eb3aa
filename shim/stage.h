/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_STAGE_H
#define OTELCTX_STAGE_H

#include "shim/settings.h"

/* Do the settings say anything that otelctx_stage() would stage? */
bool otelctx_stage_has_any(const struct otelctx_settings *s);

/*
 * Stage what the settings say: the resource, the extra attributes, the keys of
 * thread attributes. What is wrong with one of them is reported, and that one
 * does not count. Between otelctx_context_enter() and _leave().
 *
 * Returns how many attributes the user gave.
 */
int otelctx_stage(struct otelctx_settings *s);

#endif
