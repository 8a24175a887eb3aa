// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Shows readers outside the current span of the OpenTelemetry SDK on this
 * thread, through the shim:
 *
 *     LD_PRELOAD=libotelctx_preload.so NODE_OPTIONS='--require DIR/register.js'
 *
 * Nothing happens before an SDK registers itself with @opentelemetry/api.
 */

const registered = Symbol.for('otelctx-opentelemetry');

if (!globalThis[registered]) {
  Object.defineProperty(globalThis, registered, { value: true });
  require('./lib/bridge').start();
}
