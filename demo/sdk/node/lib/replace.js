// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Replaces a method by make(original), which looks the same from outside: its
 * name, its length, where it is, and whether it is enumerable. Nothing happens if
 * there is no such method, or it cannot be replaced.
 */
function replace(holder, name, make) {
  const original = holder[name];

  if (typeof original !== 'function') {
    return;
  }
  const descriptor = Object.getOwnPropertyDescriptor(holder, name) ?? {
    configurable: Object.isExtensible(holder),
    enumerable: false,
    writable: true,
  };
  if (!descriptor.configurable || descriptor.get) {
    return;
  }
  const made = make(original);

  for (const property of ['name', 'length']) {
    const its = Object.getOwnPropertyDescriptor(original, property);
    if (its) {
      Object.defineProperty(made, property, its);
    }
  }
  Object.defineProperty(holder, name, { ...descriptor, value: made });
}

module.exports = { replace };
