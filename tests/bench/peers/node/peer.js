// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * A function that runs in a context, in Node: @datadog/pprof, and the shim as
 * demo/sdk/node calls it. The floor is AsyncLocalStorage.run(), which both have.
 *
 *     node peer.js show NUMBER
 *     node peer.js measure ROUNDS
 *
 * The lines are those of pairs.h.
 */

const { AsyncLocalStorage } = require('node:async_hooks');
const fs = require('node:fs');
const otel = require('@datadog/pprof/out/src/otel-thread-ctx');
const { Attributes } = require('./lib/attributes');
const { Ids } = require('./lib/ids');
const { openRecord } = require('./lib/record');
const { open } = require('./lib/shim');

const BLOCK_NS = 100000;
const TRACE_ID = Buffer.from('01020300000000000000000000000000', 'hex');
const SPAN_ID = Buffer.from('0405060000000000', 'hex');
const VALUES = [undefined, '/api/cart', 'GET', 'user-4711', 'eu-west-1a'];
const PLAIN = 'Node: a function in a context';
const FOUR = 'Node: the same, 4 attributes';

const storage = new AsyncLocalStorage();
const shim = open();
const record = openRecord(shim);
const attributes = new Attributes(shim); // of OTELCTX_SPAN_ATTRIBUTES
const names = [...attributes.keys.keys()];
const span = {
  attributes: Object.fromEntries(names.map((name, i) => [name, VALUES[i]])),
};
const ids = new Ids({
  traceId: TRACE_ID.toString('hex'),
  spanId: SPAN_ID.toString('hex'),
  traceFlags: 1,
});
const kept = new otel.ThreadContext(TRACE_ID, SPAN_ID, 1);
const keptFour = new otel.ThreadContext(TRACE_ID, SPAN_ID, 1, VALUES);

function ours(call) {
  record.begin(ids);
  record.show();
  storage.run(span, call);
  record.hide();
}

function oursFour(call) {
  record.begin(ids);
  attributes.write(span);
  record.show();
  storage.run(span, call);
  record.hide();
}

const subjects = [
  [PLAIN, 'otelctx, a pinned record', ours],
  [PLAIN, '@datadog/pprof, a kept context', (call) => kept.run(call)],
  [
    PLAIN,
    '@datadog/pprof, a new context',
    (call) => new otel.ThreadContext(TRACE_ID, SPAN_ID, 1).run(call),
  ],
  [FOUR, 'otelctx, a pinned record', oursFour],
  [FOUR, '@datadog/pprof, a kept context', (call) => keptFour.run(call)],
  [
    FOUR,
    '@datadog/pprof, a new context',
    (call) => new otel.ThreadContext(TRACE_ID, SPAN_ID, 1, VALUES).run(call),
  ],
];

function nothing() {}

/* A loop of its own for each, so that the compiler knows what is called. */
function loop(run) {
  return new Function(
    'run',
    'nothing',
    'return (times) => { for (let i = 0; i < times; i++) run(nothing); }',
  )(run, nothing);
}

function block(repeat, times) {
  const begin = process.hrtime.bigint();

  repeat(times);
  return Number(process.hrtime.bigint() - begin) / times;
}

function timesOf(repeat) {
  for (let i = 0; i < 100; i++) {
    block(repeat, 1000);
  }
  return 1 + Math.floor(BLOCK_NS / block(repeat, 1000));
}

function measure(rounds) {
  const floor = loop((call) => storage.run(span, call));
  const floorTimes = timesOf(floor);
  const repeats = subjects.map(([, , run]) => loop(run));
  const times = repeats.map(timesOf);
  let before = block(floor, floorTimes);

  for (let round = 0; round < rounds; round++) {
    subjects.forEach(([row, name], k) => {
      const ns = block(repeats[k], times[k]);
      const after = block(floor, floorTimes);

      fs.writeSync(1, `${row}\t${name}\t${before}\t${ns}\t${after}\n`);
      before = after;
    });
  }
}

/* @datadog/pprof has its own variable and form: its record, as it shows it. */
function show([row, name, run]) {
  run(() => {
    const bytes = otel._currentRecordBytes();

    fs.writeSync(1, `${row}\t${name}\n`);
    if (bytes) {
      fs.writeSync(1, `record ${Buffer.from(bytes).toString('hex')}\n`);
    }
    fs.writeSync(1, 'published\n');
    fs.readSync(0, Buffer.alloc(1));
  });
}

const [what, number] = process.argv.slice(2);

if (what === 'count') {
  console.log(subjects.length);
} else if (what === 'show') {
  show(subjects[number]);
} else {
  // As bench_wait_for_look() of bench.h.
  setTimeout(measure, 1100, Number(number));
}
