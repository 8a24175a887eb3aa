// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Usage: server.js express|fastify TRUTH [WORKERS]
 *
 * A server, or as many workers of one, with the SDK's instrumentation. Prints
 * its port; ends at SIGTERM, and says whether the exporter has the spans that
 * the handlers saw.
 */

const cluster = require('node:cluster');
const fs = require('node:fs');
const net = require('node:net');
const { once } = require('node:events');
const sdk = require('./sdk');

const [framework, truthFile, workers] = process.argv.slice(2);

// A machine may stand still for seconds: then no connection is idle.
const KEEP_ALIVE_MS = 600000;

const setUp = { express: setUpExpress, fastify: setUpFastify };

function setUpExpress() {
  const {
    ExpressInstrumentation,
  } = require('@opentelemetry/instrumentation-express');

  return [new ExpressInstrumentation()];
}

function setUpFastify() {
  const { FastifyOtelInstrumentation } = require('@fastify/otel');

  return [new FastifyOtelInstrumentation({ registerOnInitialization: true })];
}

function startSdk() {
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');

  return sdk.start([new HttpInstrumentation(), ...setUp[framework]()]);
}

const seen = new Set(); // "trace span" of each section of a handler

// What a handler does is compute, wait for something, compute, and so on.
async function handle(requestHeaders, route, sections) {
  const { trace } = require('@opentelemetry/api');
  const traceId = requestHeaders.traceparent.split('-')[1];
  let shownRoute = route;

  for (const wait of sections) {
    const span = trace.getActiveSpan();
    const { spanId } = span.spanContext();

    seen.add(`${traceId} ${spanId}`);
    truth.begin({ traceId, spanId }, shownRoute);
    compute(1);
    truth.end();
    if (wait === 'late') {
      shownRoute = `/late/${spanId}`;
      span.setAttribute('http.route', shownRoute);
    } else {
      await wait();
    }
  }
  return 'done\n';
}

function compute(milliseconds) {
  const end = performance.now() + milliseconds;
  let sum = 0;

  while (performance.now() < end) {
    sum += [...'computing'].map((c) => c.charCodeAt(0)).reduce((a, b) => a + b);
  }
  return sum;
}

let truth;
let echo;

const timer = () => new Promise((resolve) => setTimeout(resolve, 1));
const file = () => fs.promises.readFile(__filename);
const socket = async () => {
  const connection = net.connect(echo.address().port, '127.0.0.1');
  connection.end('text');
  await once(connection.resume(), 'close');
};
const job = () => null;

const routes = {
  '/timer/:number': [timer, job, timer, job],
  '/file/:number': [file, job, file, job],
  '/socket/:number': [socket, timer, file, job],
  '/late/:number': [timer, 'late', file, 'late', job],
};

async function listenExpress() {
  const app = require('express')();

  for (const [route, sections] of Object.entries(routes)) {
    app.get(route, (request, response, next) => {
      handle(request.headers, route, sections)
        .then((text) => response.send(text))
        .catch(next);
    });
  }
  const server = app.listen(0, '127.0.0.1');
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await once(server, 'listening');
  return server.address().port;
}

async function listenFastify() {
  const app = require('fastify')({ keepAliveTimeout: KEEP_ALIVE_MS });

  await app.after();
  for (const [route, sections] of Object.entries(routes)) {
    app.get(route, (request) => handle(request.headers, route, sections));
  }
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

async function serve() {
  const finished = startSdk();

  truth = require('./truth').openTruth(truthFile);
  echo = net.createServer((peer) => peer.pipe(peer));
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  const listen = { express: listenExpress, fastify: listenFastify }[framework];

  console.log(`port ${await listen()}`);
  process.on('SIGTERM', () => {
    for (const span of finished()) {
      const { traceId, spanId } = span.spanContext();
      seen.delete(`${traceId} ${spanId}`);
    }
    console.log(`spans that were not exported: ${seen.size}`);
    process.exit(0);
  });
}

function startWorkers() {
  for (let number = 0; number < Number(workers); number++) {
    cluster.fork();
  }
  process.on('SIGTERM', () => {
    Object.values(cluster.workers).forEach((worker) => worker.process.kill());
  });
}

if (workers && cluster.isPrimary) {
  startWorkers();
} else {
  serve();
}
