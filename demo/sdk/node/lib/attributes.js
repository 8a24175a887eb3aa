// SPDX-License-Identifier: Apache-2.0
'use strict';

const { say } = require('./shim');

const VARIABLE = 'OTELCTX_SPAN_ATTRIBUTES';

/* The text of a scalar; undefined: it is none. */
function text(value) {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return undefined;
  }
}

/* The attributes of spans that OTELCTX_SPAN_ATTRIBUTES names. */
class Attributes {
  constructor(shim) {
    this.shim = shim;
    this.keys = new Map(); // index by name
    this.utf8 = Buffer.alloc(1024); // the shim cuts at 255 bytes
    for (const part of (process.env[VARIABLE] ?? '').split(',')) {
      const name = part.trim();

      if (name !== '') {
        this.register(name);
      }
    }
  }

  register(name) {
    const index = this.shim.key(name);

    if (index >= 0) {
      this.keys.set(name, index);
    } else {
      say(`${VARIABLE}: ${JSON.stringify(name)}: error ${-index}`);
    }
  }

  // Into the record, which has none yet.
  write({ attributes }) {
    if (!attributes) {
      return; // a span that does not record
    }
    for (const [name, index] of this.keys) {
      const value = text(attributes[name]);

      if (value !== undefined) {
        this.shim.attr(index, this.utf8, this.utf8.write(value));
      }
    }
  }

  // Into the record, where the attribute may have another value.
  update({ attributes }, name) {
    const index = this.keys.get(name);

    if (index === undefined || !attributes) {
      return;
    }
    const value = text(attributes[name]);

    if (
      value === undefined ||
      this.shim.attr(index, this.utf8, this.utf8.write(value)) < 0 // no room
    ) {
      this.shim.attrUnset(index);
    }
  }
}

module.exports = { Attributes, text };
