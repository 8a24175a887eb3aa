/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OTELCTX_PROCESS_IDENTITY_H
#define OTELCTX_PROCESS_IDENTITY_H

/*
 * The attributes that every process has: a service.name, and, if the user wants
 * one, a service.instance.id. The caller holds the lock.
 */

#include "shim/base/compiler.h"
#include "shim/process/payload.h"

/*
 * Give the attributes a service.name if they have none: "unknown_service:" and
 * the name of the executable. And the service.instance.id that was made, see
 * instance_id.h, if they have none and there is room for it.
 *
 * Returns 0 or -ENOSPC (no room for the name).
 * Rule: OpenTelemetry semantic conventions, "Service".
 */
OTELCTX_RARE int otelctx_identity_complete(struct otelctx_payload *payload);

/* In a forked child: the service.instance.id that the shim made is the
 * parent's. Make another, wherever it is written. */
OTELCTX_RARE void otelctx_identity_renew(void);

#endif
