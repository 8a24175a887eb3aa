// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * What demo/sdk/node costs, in nanoseconds of processor time (V8's own threads
 * count, too): processes with and without it take turns, and the best of each
 * counts. After the test e2e/sdk/node, which installs
 * all of this:
 *
 *     node tests/bench/sdk/node.js build/shim/libotelctx_preload.so \
 *         build/sdk/node/bridge/register.js build/sdk/node/newest [ROUNDS]
 *
 * The Node that runs this is measured; the newest SDK needs Node 22.15.
 */

const { execFileSync } = require('node:child_process');
const path = require('node:path');

const WARM_UP = 20000;
const CALLS = 200000;

async function time(call) {
  for (let i = 0; i < WARM_UP; i++) {
    const result = call(i);
    if (result) {
      await result;
    }
  }
  const start = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) {
    const result = call(i);
    if (result) {
      await result;
    }
  }
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / CALLS;
}

async function measure(directory) {
  const { createRequire } = require('node:module');
  const load = createRequire(path.resolve(directory, 'sdk.js'));
  const { context, trace, ROOT_CONTEXT } = load('@opentelemetry/api');

  load('./sdk').start();
  const tracer = trace.getTracer('bench');
  const contexts = [1, 2].map((number) => {
    const span = tracer.startSpan('request');
    span.setAttribute('http.route', `/cart/${number}`);
    span.setAttribute('rpc.method', 'GetCart');
    return trace.setSpan(ROOT_CONTEXT, span);
  });
  const nothing = () => {};
  const inSpan = (call) => context.with(contexts[0], () => time(call));
  const results = {
    'with(), another span': await time((i) => {
      context.with(contexts[i & 1], nothing);
    }),
    'with() in a with()': await inSpan(() => {
      context.with(contexts[1], nothing);
    }),
    'await, in a span': await inSpan(() => Promise.resolve()),
    'await, in no span': await time(() => Promise.resolve()),
    'setImmediate, in a span': await inSpan(
      () => new Promise((resolve) => setImmediate(resolve)),
    ),
  };
  console.log(JSON.stringify(results));
}

function run(environment, directory) {
  return JSON.parse(
    execFileSync(process.execPath, [__filename, '--measure', directory], {
      env: { ...process.env, ...environment },
    }),
  );
}

function best(results) {
  const least = { ...results[0] };

  for (const result of results) {
    for (const name of Object.keys(least)) {
      least[name] = Math.min(least[name], result[name]);
    }
  }
  return least;
}

function compare(shim, register, directory, rounds = 5) {
  const bridge = {
    LD_PRELOAD: path.resolve(shim),
    NODE_OPTIONS: `--require ${path.resolve(register)}`,
  };
  const kinds = {
    without: { LD_PRELOAD: path.resolve(shim) },
    with: bridge,
    attributes: { ...bridge, OTELCTX_SPAN_ATTRIBUTES: 'http.route,rpc.method' },
  };
  const results = { without: [], with: [], attributes: [] };

  for (let round = 0; round < rounds; round++) {
    for (const [kind, environment] of Object.entries(kinds)) {
      results[kind].push(run(environment, directory));
    }
  }
  const without = best(results.without);

  console.log(`Node ${process.versions.node}, processor ns a call`);
  for (const kind of ['with', 'attributes']) {
    const what = kind === 'with' ? 'the bridge' : 'and two attributes';

    for (const [name, ns] of Object.entries(best(results[kind]))) {
      const before = without[name];
      const more = Math.round(ns - before);
      console.log(
        `${name.padEnd(24)} ${what.padEnd(18)} ${before.toFixed(0).padStart(6)}` +
          ` -> ${ns.toFixed(0).padStart(6)}  +${more} (x ${(ns / before).toFixed(2)})`,
      );
    }
  }
}

const [first, ...others] = process.argv.slice(2);

if (first === '--measure') {
  measure(others[0]);
} else {
  compare(first, ...others);
}
