// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * @opentelemetry/api keeps what is registered in one object on globalThis, which
 * all its copies and versions share: {version, context, trace, ...}.
 */

const API = Symbol.for('opentelemetry.js.api.1');
const TYPES = ['context', 'trace'];

function define(object, key, value) {
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/*
 * The setters are inherited: an assignment calls the setter, which makes the
 * plain property that would be there without us, so that reads cost nothing; and
 * once that is deleted, the next assignment calls the setter again.
 */
function follow(api, registered) {
  const setters = Object.create(Object.getPrototypeOf(api));

  for (const type of TYPES) {
    Object.defineProperty(setters, type, {
      configurable: true,
      get() {},
      set(instance) {
        define(this, type, instance);
        registered(type, instance);
      },
    });
  }
  Object.setPrototypeOf(api, setters);
  for (const type of TYPES) {
    if (api[type]) {
      registered(type, api[type]);
    }
  }
}

/*
 * Calls registered(type, instance) for each context manager ('context') and
 * tracer provider ('trace') that is registered, or has been before.
 */
function observe(registered) {
  if (globalThis[API]) {
    follow(globalThis[API], registered);
    return;
  }
  Object.defineProperty(globalThis, API, {
    configurable: true,
    get() {},
    set(api) {
      if (typeof api !== 'object' || api === null) {
        return; // somebody clears what was not there
      }
      define(globalThis, API, api);
      follow(api, registered);
    },
  });
}

module.exports = { observe };
