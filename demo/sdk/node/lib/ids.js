// SPDX-License-Identifier: Apache-2.0
'use strict';

const NOT_HEX = 0x100;
const digits = new Uint16Array(256).fill(NOT_HEX);

for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16);
  digits[text.charCodeAt(0)] = digit;
  digits[text.toUpperCase().charCodeAt(0)] = digit;
}

let seen = 0; // above 0x0f once a character was no digit

function byte(text, at) {
  const first = text.charCodeAt(at);
  const second = text.charCodeAt(at + 1);
  const high = digits[first & 0xff];
  const low = digits[second & 0xff];

  seen |= high | low | ((first | second) & 0xff00);
  return (high << 4) | low;
}

/* Four bytes as an integer that has them in this order in memory: the shim runs
 * on little-endian processors only. */
function word(text, at) {
  return (
    byte(text, at) |
    (byte(text, at + 2) << 8) |
    (byte(text, at + 4) << 16) |
    (byte(text, at + 6) << 24)
  );
}

/* The ids of one span, in the words of a record. */
class Ids {
  constructor({ traceId, spanId, traceFlags }) {
    seen = 0;
    this.trace0 = word(traceId, 0);
    this.trace1 = word(traceId, 8);
    this.trace2 = word(traceId, 16);
    this.trace3 = word(traceId, 24);
    this.span0 = word(spanId, 0);
    this.span1 = word(spanId, 8);
    this.flags = traceFlags & 0x03; // sampled, random
    this.areValid =
      traceId.length === 32 &&
      spanId.length === 16 &&
      seen <= 0x0f &&
      (this.trace0 | this.trace1 | this.trace2 | this.trace3) !== 0 &&
      (this.span0 | this.span1) !== 0;
    this.spanHasEnded = false;
  }
}

module.exports = { Ids };
