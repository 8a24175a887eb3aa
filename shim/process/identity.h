/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The attributes that every process has: a service.name, and, if the user wants
 * one, a service.instance.id. The caller holds the lock.
 */

#include "shim/base/compiler.h"
#include "shim/process/payload.h"

/*
 * Add a service.name if there is none: "unknown_service:" and the name of the
 * executable. Add the generated service.instance.id (instance_id.h) if there is
 * none and it fits.
 *
 * Returns 0 or -ENOSPC (no room for the name).
 * Rule: OpenTelemetry semantic conventions, "Service".
 */
OTELCTX_RARE int otelctx_identity_complete(struct otelctx_payload *payload);

/* In a forked child: generate a new service.instance.id and replace the
 * parent's generated one wherever it is stored. */
OTELCTX_RARE void otelctx_identity_renew(void);
