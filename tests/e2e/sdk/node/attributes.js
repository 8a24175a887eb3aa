// SPDX-License-Identifier: Apache-2.0
'use strict';

/* Prints the attributes in this thread's record, by key index, as a span gets
 * and changes them. */

const koffi = require('koffi');
const { trace } = require('@opentelemetry/api');

require('./sdk').start();
const variable = koffi.load(null).symbol('otel_thread_ctx_v1', 'void *');
const slot = new BigUint64Array(koffi.view(koffi.address(variable), 8));

function print() {
  const record = Buffer.from(koffi.view(slot[0], 640));
  const size = record.readUInt16LE(26);
  const found = [];

  for (let at = 28; at < 28 + size; at += 2 + record[at + 1]) {
    const value = record.toString('utf8', at + 2, at + 2 + record[at + 1]);
    found.push(`${record[at]}=${value.length > 40 ? value.length : value}`);
  }
  console.log(found.sort().join(' ') || 'none');
}

const attributes = { text: 'α', number: 1.5, flag: false, list: ['a'], other: 1 };
const tracer = trace.getTracer('attributes');

tracer.startActiveSpan('span', { attributes }, async (span) => {
  print();
  span.setAttribute('text', 'longer than before');
  print();
  span.setAttributes({ number: 2, list: ['b'], flag: ['now', 'a', 'list'] });
  print();
  tracer.startActiveSpan('inner', (inner) => {
    span.setAttribute('text', 'x'.repeat(1000));
    print();
    inner.end();
  });
  print();
  span.setAttribute('flag', 'small');
  span.setAttributes({ number: 'x'.repeat(255), flag: 'y'.repeat(255) });
  print(); // there is no room left
  span.end();
});
