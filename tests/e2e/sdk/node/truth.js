// SPDX-License-Identifier: Apache-2.0
'use strict';

/* What this thread works for, as truth.h has it. */

const fs = require('node:fs');
const koffi = require('koffi');

const SLOTS = 4096;
const SLOT_SIZE = 64;
const READ_WRITE = 3;
const SHARED = 1;

const libc = koffi.load(null);
const mmap = libc.func(
  'void *mmap(void *at, size_t size, int access, int flags, int fd, long from)',
);

// Of the thread that calls it: "1234/task/1235".
function threadId() {
  return Number(fs.readlinkSync('/proc/thread-self').split('/')[2]);
}

function openTruth(path) {
  const tid = threadId();
  const file = fs.openSync(path, 'r+');
  const map = mmap(null, SLOTS * SLOT_SIZE, READ_WRITE, SHARED, file, 0);
  const all = koffi.view(map, SLOTS * SLOT_SIZE);
  const slot = Buffer.from(all, (tid % SLOTS) * SLOT_SIZE, SLOT_SIZE);
  const sequence = new Int32Array(all, (tid % SLOTS) * SLOT_SIZE, 1);

  fs.closeSync(file);
  slot.writeUInt32LE(process.pid, 8);
  slot.writeUInt32LE(tid, 12);
  return {
    begin({ traceId, spanId }, route) {
      slot.write(traceId, 16, 'hex');
      slot.write(spanId, 32, 'hex');
      slot.fill(0, 40);
      slot.write(route, 40);
      Atomics.add(sequence, 0, 1);
    },
    end() {
      Atomics.add(sequence, 0, 1);
    },
  };
}

module.exports = { openTruth };
