// SPDX-License-Identifier: Apache-2.0
'use strict';

const fs = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const TLS = 1; // enum otelctx_storages

/* What is wrong with a setting is said once, not by each thread. */
function say(message) {
  if (!isMainThread) {
    return;
  }
  try {
    fs.writeSync(2, `otelctx[${process.pid}]: ${message}\n`);
  } catch {
    // Nobody reads stderr.
  }
}

function loadKoffi() {
  try {
    return require('koffi');
  } catch (error) {
    if (/otelctx/.test(process.env.LD_PRELOAD)) {
      say(`no spans are shown: ${String(error.message).split('\n')[0]}`);
    }
  }
}

/* The functions of the shim; undefined: it is not there, or disabled. */
function open() {
  const koffi = loadKoffi();

  if (!koffi) {
    return undefined;
  }
  const loaded = koffi.load(null); // whatever is: no library is named
  try {
    if (loaded.func('int otelctx_abi(void)')() < 1) {
      return undefined;
    }
    const pin = loaded.func('void *otelctx_pin(void)');
    const storage = loaded.func('int otelctx_storage(void)');

    return {
      // The bytes of this thread's own record; undefined: another SDK has one
      // attached.
      pin() {
        const record = pin();
        return record ? koffi.view(record, 640) : undefined;
      },
      hasOnlyTls: () => storage() === TLS,
      key: loaded.func('int otelctx_key(const char *name)'),
      attach: loaded.func(
        'int otelctx_attach(const uint8_t *trace_id, const uint8_t *span_id,' +
          ' uint8_t flags)',
      ),
      detach: loaded.func('int otelctx_detach(void)'),
      attr: loaded.func(
        'int otelctx_attr(uint8_t key, const uint8_t *value, size_t len)',
      ),
      attrUnset: loaded.func('int otelctx_attr_unset(uint8_t key)'),
      processSet: loaded.func(
        'int otelctx_process_set(const char *key, const char *value)',
      ),
      processPublish: loaded.func('int otelctx_process_publish(void)'),
    };
  } catch {
    return undefined; // there is no shim
  }
}

module.exports = { open, say };
