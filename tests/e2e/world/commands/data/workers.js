// SPDX-License-Identifier: Apache-2.0
'use strict';

const { execFileSync } = require('child_process');
const crypto = require('crypto');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

// Which frames follow the first one depends on who runs the microtasks.
Error.stackTraceLimit = 1;

if (!isMainThread) {
  parentPort.postMessage(crypto.pbkdf2Sync('secret', `salt ${workerData}`, 5000, 32, 'sha512').toString('hex'));
} else {
  const results = [1, 2, 3, 4].map((number) => new Promise((resolve, reject) => {
    new Worker(__filename, { workerData: number }).on('message', resolve).on('error', reject);
  }));
  Promise.all(results).then((lines) => {
    console.log(lines.join('\n'));
    console.log(execFileSync('sort', ['words']).toString());
    return Promise.reject(new Error('unhandled at the end'));
  });
}
