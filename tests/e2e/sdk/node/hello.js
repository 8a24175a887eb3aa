// SPDX-License-Identifier: Apache-2.0
'use strict';

/* Prints what the SDK does, and whether its context manager is as it was. */

const { context, trace } = require('@opentelemetry/api');
const finished = require('./sdk').start();

trace.getTracer('hello').startActiveSpan('outer', async (outer) => {
  await null;
  trace.getTracer('hello').startActiveSpan('inner', (inner) => {
    inner.setAttribute('http.route', '/hello').end();
  });
  outer.end();
  while (finished().length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (const span of finished()) {
    console.log(span.name, span.attributes, Boolean(span.parentSpanContext));
  }
  console.log(Reflect.ownKeys(context._getContextManager()));
});
