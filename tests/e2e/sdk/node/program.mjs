// SPDX-License-Identifier: Apache-2.0

/*
 * A program of ES modules. Its SDK is started by itself or, if it gets the
 * argument "preloaded", by --require. Prints whether its spans are shown.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import shown from './shown.js';

if (process.argv[2] !== 'preloaded') {
  (await import('./sdk.js')).default.start();
}
await sleep(1);
const words = await trace.getTracer('module').startActiveSpan('span', async (span) => {
  const first = shown() === span.spanContext().spanId;
  await sleep(1);
  const second = shown() === span.spanContext().spanId;
  span.end();
  return [first, second, shown()];
});
console.log(...words, shown());
