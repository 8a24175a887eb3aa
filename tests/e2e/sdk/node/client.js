// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Usage: client.js PORT
 *
 * Keeps 40 requests under way, each with a trace id of its own, until stdin
 * ends; then waits for the last ones. Prints an error if there was one.
 */

const crypto = require('node:crypto');
const http = require('node:http');

const port = Number(process.argv[2]);
const agent = new http.Agent({ keepAlive: true });
const paths = ['timer', 'file', 'socket', 'late'];
let isOver = false;
let number = 0;

process.stdin.on('end', () => (isOver = true)).resume();

function request() {
  const traceId = crypto.randomBytes(16).toString('hex');
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const path = `/${paths[number++ % paths.length]}/${number}`;

  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
        if (response.statusCode !== 200) {
          reject(new Error(`status ${response.statusCode}`));
        }
        response.on('end', resolve).resume();
      })
      .on('error', reject);
  });
}

async function keepBusy() {
  while (!isOver) {
    await request();
  }
}

Promise.all(Array.from({ length: 40 }, keepBusy)).then(() => agent.destroy());
