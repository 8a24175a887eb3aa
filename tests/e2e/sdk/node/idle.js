// SPDX-License-Identifier: Apache-2.0
'use strict';

/* Prints the scalars of the SDK's resource, and waits until stdin ends. */

const { trace } = require('@opentelemetry/api');

require('./sdk').start();
const { resource } = trace.getTracer('idle').startSpan('span');

async function main() {
  await resource.waitForAsyncAttributes();
  for (const [key, value] of Object.entries(resource.attributes)) {
    if (!Array.isArray(value)) {
      console.log(`${key}=${value}`);
    }
  }
  console.log('ready');
  process.stdin.resume();
}

main();
