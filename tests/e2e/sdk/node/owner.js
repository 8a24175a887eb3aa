// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Another SDK's record is attached to this thread before the program starts the
 * SDK: prints whether it stays as it is.
 */

const koffi = require('koffi');

const variable = koffi.load(null).symbol('otel_thread_ctx_v1', 'void *');
const memory = koffi.alloc('uint64_t', 80);
const slot = new BigUint64Array(koffi.view(koffi.address(variable), 8));
const record = Buffer.from(koffi.view(memory, 640)).fill(7);

slot[0] = koffi.address(memory);
require('./sdk').start();
const { trace } = require('@opentelemetry/api');

function isAsItWas() {
  return slot[0] === koffi.address(memory) && record.every((b) => b === 7);
}

trace.getTracer('owner').startActiveSpan('span', async (span) => {
  const before = isAsItWas();
  await null;
  span.end();
  console.log(before, isAsItWas());
  slot[0] = 0n;
});
