// SPDX-License-Identifier: Apache-2.0
'use strict';

/* struct otelctx_record: trace_id, span_id, then: */
const VALID = 24;
const FLAGS = 25;
const ATTRS_SIZE = 26 / 2;

function putIds(words, ids) {
  words[0] = ids.trace0;
  words[1] = ids.trace1;
  words[2] = ids.trace2;
  words[3] = ids.trace3;
  words[4] = ids.span0;
  words[5] = ids.span1;
}

/*
 * This thread's own record, written without native calls: `valid` is 0 while it
 * changes. A reader stops the thread, so it sees the stores in the order of the
 * instructions. V8 moves no store across an atomic one and removes none of
 * those, nor across a native call.
 */
class PinnedRecord {
  constructor(memory) {
    this.bytes = new Uint8Array(memory);
    this.words = new Int32Array(memory, 0, VALID / 4);
    this.halves = new Uint16Array(memory, 0, ATTRS_SIZE + 1);
  }

  // The record is hidden, has the ids, and no attributes.
  begin(ids) {
    Atomics.store(this.bytes, VALID, 0);
    putIds(this.words, ids);
    this.bytes[FLAGS] = ids.flags;
    this.halves[ATTRS_SIZE] = 0;
  }

  show() {
    Atomics.store(this.bytes, VALID, 1);
  }

  hide() {
    Atomics.store(this.bytes, VALID, 0);
  }
}

/* With a ring, or a profiler in the process: the shim writes all storages. */
class AttachedRecord {
  constructor(shim) {
    this.shim = shim;
    this.words = new Int32Array(VALID / 4);
    this.traceId = Buffer.from(this.words.buffer, 0, 16);
    this.spanId = Buffer.from(this.words.buffer, 16, 8);
  }

  begin(ids) {
    putIds(this.words, ids);
    this.shim.attach(this.traceId, this.spanId, ids.flags);
  }

  show() {}

  hide() {
    this.shim.detach();
  }
}

/* undefined: another SDK has a record attached. */
function openRecord(shim) {
  if (!shim.hasOnlyTls()) {
    return new AttachedRecord(shim);
  }
  const memory = shim.pin();
  return memory && new PinnedRecord(memory);
}

module.exports = { openRecord };
