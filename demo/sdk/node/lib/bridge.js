// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * What is shown on this thread is the span of the context manager's active
 * context. It changes where JavaScript enters a callback or leaves it, of which
 * an async hook knows (timers, sockets, files, jobs of promises: what comes
 * after an `await`), and in the context manager's with(). Whoever enters notes
 * what was shown, whoever leaves shows that again; at the bottom of the stack
 * this is nothing.
 */

const { AsyncLocalStorage, AsyncResource, createHook } = require('async_hooks');
const { observe } = require('./api');
const { Attributes } = require('./attributes');
const { Ids } = require('./ids');
const { openRecord } = require('./record');
const { Resource } = require('./resource');
const { open } = require('./shim');
const { replace } = require('./replace');

const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

let record;
let attributes;
let resource;

/* ---- The span that is shown ---------------------------------------------- */

let current; // undefined: nothing is shown
const idsOf = new WeakMap(); // by span

function show(span) {
  if (span === current) {
    return;
  }
  try {
    const ids = span && (idsOf.get(span) ?? meet(span));

    if (!ids || !ids.areValid || ids.spanHasEnded || span.ended === true) {
      hide();
      return;
    }
    record.begin(ids);
    if (attributes.keys.size > 0) {
      attributes.write(span);
    }
    record.show();
    current = span;
  } catch {
    hide();
  }
}

function hide() {
  if (current) {
    current = undefined;
    record.hide();
  }
}

/* ---- Spans --------------------------------------------------------------- */

const watched = new WeakSet(); // objects whose end() tells us

function meet(span) {
  const ids = new Ids(span.spanContext());

  idsOf.set(span, ids);
  watch(span);
  resource.take(span.resource);
  return ids;
}

/* Spans inherit their methods from a class, one for each SDK that is loaded. */
function watch(span) {
  let holder = span;

  while (holder && !Object.hasOwn(holder, 'end')) {
    holder = Object.getPrototypeOf(holder);
  }
  if (!holder || watched.has(holder)) {
    return;
  }
  watched.add(holder);
  replace(holder, 'end', (end) => function () {
    const ids = idsOf.get(this);

    if (ids) {
      ids.spanHasEnded = true;
    }
    if (this === current) {
      hide();
    }
    return end.apply(this, arguments);
  });
  if (attributes.keys.size === 0) {
    return;
  }
  replace(holder, 'setAttribute', (setAttribute) => function (name) {
    const result = setAttribute.apply(this, arguments);

    if (this === current) {
      attributes.update(this, name);
    }
    return result;
  });
  replace(holder, 'setAttributes', (setAttributes) => function (changes) {
    const result = setAttributes.apply(this, arguments);

    if (this === current) {
      Object.keys(changes).forEach((name) => attributes.update(this, name));
    }
    return result;
  });
}

/* ---- Callbacks ----------------------------------------------------------- */

let manager;
let hook; // undefined: there has been no manager yet
let depth = 0; // of callbacks that have been entered, and not left
const entered = []; // async ids
const outside = []; // the span that was shown before

function refresh() {
  try {
    show(manager.active()?.getValue(SPAN));
  } catch {
    hide();
  }
}

function enter(asyncId) {
  entered[depth] = asyncId;
  outside[depth] = current;
  depth++;
  refresh();
}

/* An error that nobody catches may leave several at once. A callback that began
 * before there was a hook is left, but was never entered. */
function leave(asyncId) {
  let level = depth - 1;

  while (level > 0 && entered[level] !== asyncId) {
    level--;
  }
  const span = entered[level] === asyncId ? outside[level] : undefined;

  leaveTo(Math.max(level, 0));
  show(span);
}

function leaveTo(level) {
  while (depth > level) {
    depth--;
    outside[depth] = undefined;
  }
}

/*
 * Where contexts are kept in V8's continuations (Node 24), this method calls the
 * hook before it changes the context. The hook's leave() undoes what we do.
 */
function watchResources() {
  const storage = new AsyncLocalStorage();
  const resource = storage.run(true, () => new AsyncResource('OTELCTX'));
  let isInTime;
  const hook = createHook({
    before() {
      isInTime = storage.getStore();
    },
  }).enable();

  resource.runInAsyncScope(() => {});
  hook.disable();
  storage.disable();
  if (isInTime) {
    return;
  }
  replace(AsyncResource.prototype, 'runInAsyncScope', (run) =>
    function (work, thisArg, ...args) {
      if (typeof work !== 'function') {
        return run.apply(this, arguments);
      }
      function inside() {
        refresh();
        return work.apply(this, arguments);
      }
      return run.call(this, inside, thisArg, ...args);
    },
  );
}

/* ---- Context managers ---------------------------------------------------- */

const adopted = new WeakSet();
let withCalls = 0;

function runWith(context, work, self, parameters) {
  const span = current;
  const level = depth;

  try {
    show(context.getValue(SPAN));
  } catch {
    hide(); // the manager tells what is wrong
  }
  try {
    return work.apply(self, parameters);
  } finally {
    if (depth > level) {
      leaveTo(level);
    }
    show(span);
  }
}

function watchWith(instance) {
  replace(instance, 'with', (original) => function (context) {
    withCalls++;
    if (this !== manager) {
      return original.apply(this, arguments); // no longer registered
    }
    return runWith(context, original, this, arguments);
  });
}

/* The SDK's managers call their with() in what bind() returns; others may not. */
function watchBind(instance) {
  const calls = withCalls;

  instance.bind(instance.active(), () => {})();
  if (withCalls !== calls) {
    return;
  }
  replace(instance, 'bind', (original) => function (context, target) {
    const bound = original.apply(this, arguments);

    if (typeof target !== 'function' || typeof bound !== 'function') {
      return bound;
    }
    const method = {
      bound() {
        return runWith(context, bound, this, arguments);
      },
    };
    return Object.defineProperty(method.bound, 'length', { value: bound.length });
  });
}

let willForget = false;

/* The main script ended. */
function forgetOutside() {
  willForget = false;
  outside.fill(undefined);
}

/* A context was set until the callback is left. In Node 24, each with() comes here. */
function contextWasSet() {
  refresh();
  if (depth === 0 && !willForget) {
    willForget = true;
    process.nextTick(forgetOutside);
  }
}

/* Programs set contexts in the storage of the SDK's manager, because attach() is
 * new. */
function watchStorage({ _asyncLocalStorage: storage }) {
  if (!storage) {
    return;
  }
  replace(storage, 'enterWith', (enterWith) => function () {
    const result = enterWith.apply(this, arguments);

    contextWasSet();
    return result;
  });
}

/* Sets a context until the token is disposed of, or the callback is left. */
function watchAttach(instance) {
  replace(instance, 'attach', (original) => function () {
    const token = original.apply(this, arguments);

    contextWasSet();
    for (const name of ['dispose', Symbol.dispose]) {
      if (name && typeof token?.[name] === 'function') {
        replace(token, name, (dispose) => function () {
          const result = dispose.apply(token, arguments);
          refresh();
          return result;
        });
      }
    }
    return token;
  });
}

function adopt(instance) {
  manager = instance;
  if (adopted.has(instance)) {
    return;
  }
  adopted.add(instance);
  watchWith(instance);
  watchBind(instance);
  watchAttach(instance);
  watchStorage(instance);
  replace(instance, 'enable', (enable) => function () {
    const result = enable.apply(this, arguments);
    hook?.disable().enable(); // after a hook of the manager
    return result;
  });
  replace(instance, 'disable', (disable) => function () {
    const result = disable.apply(this, arguments);
    hide();
    return result;
  });
}

/* ---- Start --------------------------------------------------------------- */

let isStarted = false;

function begin() {
  const shim = open();

  isStarted = true;
  if (!shim) {
    return;
  }
  record = openRecord(shim);
  attributes = new Attributes(shim);
  resource = new Resource(shim);
}

function registered(type, instance) {
  try {
    if (!isStarted) {
      begin();
    }
    if (!resource) {
      return;
    }
    if (type === 'trace') {
      resource.ofProvider(instance);
    } else if (record) {
      const isFirst = !manager;

      adopt(instance);
      if (isFirst) {
        watchResources();
        // Enabled after the manager's own hook, if it has one.
        hook = createHook({ before: enter, after: leave }).enable();
      }
    }
  } catch {
    // The program goes on without.
  }
}

function start() {
  observe(registered);
}

module.exports = { start };
