// SPDX-License-Identifier: Apache-2.0
'use strict';

const { isMainThread } = require('node:worker_threads');
const { text } = require('./attributes');
const { say } = require('./shim');

const VARIABLE = 'OTELCTX_RESOURCE';

function publish(shim, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const scalar = text(value);

    if (scalar !== undefined) {
      shim.processSet(name, scalar);
    }
  }
  shim.processPublish();
}

/*
 * With OTELCTX_RESOURCE=sdk, the resource of the first tracer provider becomes
 * the process context, once the SDK has found all of it.
 */
class Resource {
  constructor(shim) {
    const wanted = process.env[VARIABLE] ?? '';

    this.shim = shim;
    this.isWanted = isMainThread && wanted === 'sdk';
    if (wanted !== '' && wanted !== 'sdk') {
      say(`${VARIABLE}: ${JSON.stringify(wanted)} is not "sdk": ignored`);
    }
  }

  // A proxy gets its provider only after it has been registered.
  ofProvider(proxy) {
    if (this.isWanted) {
      process.nextTick(() => {
        const provider = proxy.getDelegate?.() ?? proxy;
        this.take(provider.resource ?? provider._resource);
      });
    }
  }

  // If the provider does not tell, its first span does.
  take(resource) {
    if (!this.isWanted || !resource?.attributes) {
      return;
    }
    this.isWanted = false;
    if (!resource.asyncAttributesPending) {
      publish(this.shim, resource.attributes);
      return;
    }
    const then = () => publish(this.shim, resource.attributes);
    resource.waitForAsyncAttributes().then(then).catch(() => {});
  }
}

module.exports = { Resource };
