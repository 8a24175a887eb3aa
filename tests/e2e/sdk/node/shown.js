// SPDX-License-Identifier: Apache-2.0
'use strict';

/* What the shim says that this thread shows: a span id, or "nothing". */

const koffi = require('koffi');

const get = koffi.load(null).func('int otelctx_get(uint8_t *out)');
const ids = Buffer.alloc(32);

module.exports = () =>
  get(ids) === 0 ? ids.toString('hex', 16, 24) : 'nothing';
