// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Five traces at once go through every way in which Node resumes work, and ask
 * the shim at each step what this thread shows: it must be the active span of
 * the SDK. Prints what was wrong, or "same at every step".
 *
 * Usage: node --require DIR/register.js resumptions.js KOFFI
 */

const asyncHooks = require('node:async_hooks');
const childProcess = require('node:child_process');
const crypto = require('node:crypto');
const dns = require('node:dns');
const { EventEmitter, once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const { Worker, MessageChannel } = require('node:worker_threads');
const zlib = require('node:zlib');
const { context, trace, ROOT_CONTEXT } = require('@opentelemetry/api');
const shown = require('./shown');
const { start } = require('./sdk');

const finished = start();
const tracer = trace.getTracer('resumptions');
const wrong = new Set();
let steps = 0;

function active() {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span.spanContext().spanId : 'nothing';
}

function step(what) {
  steps++;
  if (shown() !== active()) {
    wrong.add(`${what}: shown ${shown()}, active ${active()}`);
  }
}

function none(what) {
  steps++;
  if (shown() !== 'nothing') {
    wrong.add(`${what}: shown ${shown()}`);
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Calls begin(callback), which calls it back later; steps in it and after it.
async function back(what, begin) {
  await new Promise((resolve) => {
    begin(() => {
      step(what);
      resolve();
    });
  });
  step(`after ${what}`);
}

const later = []; // called within another trace
const ending = []; // spans

async function handle(number, port) {
  step('start');
  await null;
  step('await null');
  await sleep(number);
  step('timer');
  await fs.promises.readFile(__filename);
  step('promise of a file');
  await back('file', (done) => fs.readFile(__filename, done));
  await back('microtask', (done) => queueMicrotask(done));
  await back('tick', (done) => process.nextTick(done));
  await back('immediate', (done) => setImmediate(done));
  await back('random', (done) => crypto.randomBytes(8, done));
  await back('zlib', (done) => zlib.gzip('text', done));
  await back('dns', (done) => dns.lookup('localhost', done));
  await back('process', (done) => childProcess.execFile('true', done));
  await back('message', (done) => {
    const { port1, port2 } = new MessageChannel();
    port2.once('message', () => {
      done();
      port1.close();
    });
    port1.postMessage(1);
  });
  await back('socket', (done) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      step('connected');
      socket.end('text');
    });
    socket.on('data', () => step('data')).on('close', done);
  });
  await {
    then(resolve) {
      step('thenable');
      resolve();
    },
  };
  step('after thenable');
  await Promise.all([
    sleep(1).then(() => step('then')),
    sleep(2).finally(() => step('finally')),
    Promise.reject(new Error()).catch(() => step('catch')),
  ]);
  step('all');
  for await (const value of numbers()) {
    step(`for await ${value}`);
  }
  const emitter = new EventEmitter();
  setTimeout(() => emitter.emit('event'), 1);
  await once(emitter, 'event');
  step('event');
  emitter.on('event', () => step('listener'));
  context.with(ROOT_CONTEXT, () => emitter.emit('event'));

  await tracer.startActiveSpan('inner', async (span) => {
    step('inner');
    context.with(ROOT_CONTEXT, () => none('root within'));
    step('inner again');
    await sleep(1);
    step('inner after timer');
    span.end();
    none('ended');
    await sleep(1);
    none('ended, after timer');
  });
  step('outer again');
  try {
    context.with(ROOT_CONTEXT, () => {
      throw new Error();
    });
  } catch {
    step('caught');
  }

  later.push(asyncHooks.AsyncResource.bind(() => step('bound resource')));
  later.push(context.bind(context.active(), () => step('bound context')));
  if (asyncHooks.AsyncLocalStorage.snapshot) {
    const snapshot = asyncHooks.AsyncLocalStorage.snapshot();
    later.push(() => snapshot(() => step('snapshot')));
    later.push(
      asyncHooks.AsyncLocalStorage.bind(() => step('bound storage')),
    );
  }
}

async function* numbers() {
  yield 1;
  step('generator');
  await null;
  step('generator after await');
  yield 2;
}

function inSpan(work) {
  return tracer.startActiveSpan('request', async (span) => {
    await work();
    ending.push(span);
  });
}

function endSpans() {
  ending.forEach((span) => span.end());
}

// attach() of the newest API.
function attached() {
  if (!context.attach) {
    return;
  }
  const span = tracer.startSpan('attached');
  const token = context.attach(trace.setSpan(context.active(), span));
  step('attached');
  token.dispose();
  step('disposed');
  span.end();
}

// The storage of the SDK's manager, which some programs use.
async function entered() {
  const storage = context._getContextManager()._asyncLocalStorage;
  if (!storage) {
    return;
  }
  const span = tracer.startSpan('entered');
  await null;
  storage.enterWith(trace.setSpan(context.active(), span));
  step('entered');
  await sleep(1);
  step('entered, after timer');
  storage.enterWith(ROOT_CONTEXT);
  none('entered root');
  span.end();
}

// A manager that is enabled late calls its hook after ours.
async function enabledAgain() {
  const manager = context._getContextManager();
  await inSpan(async () => {
    if (process.env.MANAGER === 'hooks') {
      manager.disable().enable();
    }
    await tracer.startActiveSpan('enabled', async (span) => {
      step('enabled again');
      const resource = new asyncHooks.AsyncResource('LATE');
      await sleep(1);
      step('enabled again, after timer');
      tracer.startActiveSpan('inner', (inner) => {
        resource.runInAsyncScope(() => step('enabled again, resource'));
        inner.end();
      });
      span.end();
    });
  });
}

// A span that is not sampled.
async function unsampled() {
  const ids = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 };
  const span = trace.wrapSpanContext(ids);

  await context.with(trace.setSpan(context.active(), span), async () => {
    await sleep(1);
    if (shown() !== ids.spanId) {
      wrong.add(`not sampled: shown ${shown()}`);
    }
    span.end();
    none('not sampled, ended');
    await sleep(1);
    none('not sampled, ended, after timer');
  });
  for (const spanId of ['0'.repeat(16), 'x'.repeat(16), '2'.repeat(18)]) {
    const invalid = trace.wrapSpanContext({ ...ids, spanId });
    context.with(trace.setSpan(context.active(), invalid), () => none(spanId));
  }
}

// A worker thread has a record of its own.
async function worker() {
  const thread = new Worker(__filename, { workerData: 'worker' });
  thread.on('message', (message) => {
    if (message.wrong) {
      wrong.add(`worker: ${message.wrong}`);
    }
    steps += message.steps;
  });
  await once(thread, 'exit');
  step('worker');
}

async function main() {
  const server = net.createServer((socket) => socket.pipe(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  none('before');
  await Promise.all(
    Array.from({ length: 5 }, (_, number) =>
      inSpan(() => handle(number, server.address().port)),
    ),
  );
  none('between');
  await inSpan(async () => {
    for (const call of later) {
      call();
      step('after a bound call');
    }
    attached();
    await unsampled();
    await worker();
    await entered();
  });
  await enabledAgain();
  server.close();
  process.once('uncaughtException', () =>
    setTimeout(() => step('after an error'), 1),
  );
  process.once('beforeExit', end);
  inSpan(async () => {
    step('before an error');
    process.nextTick(() => {
      step('in a tick');
      throw new Error('for all to see');
    });
  });
}

function end() {
  none('at the end');
  endSpans();
  if (finished().length < 11) {
    wrong.add(`spans in the exporter: ${finished().length}`);
  }
  if (steps < 270) {
    wrong.add(`only ${steps} steps`);
  }
  console.log(wrong.size === 0 ? 'same at every step' : [...wrong].join('\n'));
}

const { isMainThread, parentPort } = require('node:worker_threads');

if (isMainThread) {
  main();
} else {
  inSpan(async () => {
    step('in a worker');
    await sleep(1);
    step('in a worker, after a timer');
    parentPort.postMessage({ steps, wrong: [...wrong].join(', ') });
  });
}
