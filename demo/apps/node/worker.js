// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * The main thread serves three requests, and says so to readers outside.
 *
 *     npm install --ignore-scripts           (koffi, which brings its binaries)
 *     LD_PRELOAD=libotelctx_preload.so node worker.js hold
 *     otelctx-read --threads PID                      (in another terminal)
 *
 * The idiom: a span is a call, as startActiveSpan() of OpenTelemetry. Its
 * record is swapped in while the function runs, and what was there before is
 * swapped back; the record is then used again. When another SDK of the program
 * is in the way, the span is not shown. When one is there at the end, it may
 * show the record again: then nobody else gets it, nor does koffi free it.
 *
 * What Node cannot do: follow an async function. It leaves at its first await,
 * and so does its span: AsyncLocalStorage knows what goes on then, but calls
 * nobody when that changes, and async_hooks, which do, cost every promise of
 * the program more than they tell. So give span() the synchronous stretches:
 * parsing, rendering, hashing; they are what a profiler sees of Node anyway.
 * The threads of libuv and V8 (file system, compiler, GC) show nothing. A
 * worker thread that loads this shows its own spans.
 */

const fs = require('node:fs');
const koffi = require('koffi');

const loaded = koffi.load(null); // whatever is: no library is named

function find(declaration) {
  try {
    return loaded.func(declaration);
  } catch {
    return () => -1; // there is no shim
  }
}

const otelctx = {
  key: find('int otelctx_key(const char *name)'),
  init: find(
    'int otelctx_record_init(void *record, const uint8_t *trace_id,' +
      ' const uint8_t *span_id, uint8_t flags)',
  ),
  attr: find(
    'int otelctx_record_attr(void *record, uint8_t key, const char *value,' +
      ' size_t len)',
  ),
  swap: find('int otelctx_swap(void *record, _Out_ void **previous)'),
};

const keys = new Map();

function key(name) {
  if (!keys.has(name)) {
    keys.set(name, otelctx.key(name));
  }
  return keys.get(name);
}

const bytes = (hex) => Buffer.from(hex, 'hex');

const spare = []; // records that nobody shows

function span({ traceId, spanId, attributes = {} }, work) {
  if (traceId.length !== 32 || spanId.length !== 16) {
    throw new RangeError('a trace id has 32 digits, a span id 16');
  }
  const outer = [null];
  const record = spare.pop() ?? koffi.alloc('uint64_t', 80);

  otelctx.init(record, bytes(traceId), bytes(spanId), 1);
  for (const [name, value] of Object.entries(attributes)) {
    const index = key(name);
    if (index >= 0) {
      otelctx.attr(record, index, value, Buffer.byteLength(value));
    }
  }
  const shown = otelctx.swap(record, outer) === 0;
  try {
    return work();
  } finally {
    if (!shown || otelctx.swap(outer[0], null) === 0) {
      spare.push(record);
    }
  }
}

const hold = process.argv[2] === 'hold';

// With `hold`: the thread stops here until it gets a line.
function lookHere(what) {
  if (hold) {
    fs.writeSync(1, `${what}\n`);
    fs.readSync(0, Buffer.alloc(80));
  }
}

// A tracer makes up ids; by these one sees who is who.
function ids(number, level) {
  const hex = (byte) => byte.toString(16).padStart(2, '0');

  return {
    traceId: hex(number).repeat(16),
    spanId: hex(level + number).repeat(8),
  };
}

function query(number) {
  const attributes = { 'db.operation.name': 'SELECT' };

  return span({ ...ids(number, 0x20), attributes }, () => {
    lookHere(`query ${number}`);
    return 10 * number;
  });
}

function serve(number) {
  const attributes = { 'http.route': '/cart', 'user.id': `user-${number}` };

  return span({ ...ids(number, 0x10), attributes }, () => {
    const rows = query(number);
    lookHere(`request ${number}`); // the request's own context is back
    return rows;
  });
}

const workers = [1, 2, 3];
const results = workers.map((number) => {
  const rows = serve(number);
  lookHere('idle');
  return rows;
});
workers.forEach((number, i) => {
  console.log(`worker ${number}: ${results[i]} rows`);
});
