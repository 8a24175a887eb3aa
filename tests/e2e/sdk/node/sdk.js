// SPDX-License-Identifier: Apache-2.0
'use strict';

/*
 * Starts the SDK that node_modules has, as programs do; its spans go to memory.
 * start(instrumentations) returns a function that returns the finished ones.
 */

function newest(instrumentations) {
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const {
    InMemorySpanExporter,
    SimpleSpanProcessor,
  } = require('@opentelemetry/sdk-trace');
  const { resourceFromAttributes } = require('@opentelemetry/resources');
  const exporter = new InMemorySpanExporter();

  new NodeSDK({
    instrumentations,
    resource: resourceFromAttributes({
      'service.name': 'shop',
      'host.cores': 4,
      'host.tags': ['a', 'b'],
      'host.late': new Promise((resolve) => setTimeout(resolve, 20, 'yes')),
    }),
    metricReaders: [],
    logRecordProcessors: [],
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  }).start();
  return exporter;
}

function older(instrumentations) {
  const {
    InMemorySpanExporter,
    NodeTracerProvider,
    SimpleSpanProcessor,
  } = require('@opentelemetry/sdk-trace-node');
  const { registerInstrumentations } = require('@opentelemetry/instrumentation');
  const { AsyncHooksContextManager } = require('@opentelemetry/context-async-hooks');
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });

  provider.register(
    process.env.MANAGER === 'hooks'
      ? { contextManager: new AsyncHooksContextManager().enable() }
      : {},
  );
  registerInstrumentations({ instrumentations });
  return exporter;
}

function has(name) {
  try {
    return Boolean(require.resolve(name));
  } catch {
    return false;
  }
}

exports.start = (instrumentations = []) => {
  const begin = has('@opentelemetry/sdk-trace') ? newest : older;
  const exporter = begin(instrumentations);

  return () => exporter.getFinishedSpans();
};
