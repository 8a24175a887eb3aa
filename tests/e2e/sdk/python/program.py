# SPDX-License-Identifier: Apache-2.0
"""A program on the SDK. Prints its spans; with `hold` it waits within one."""

import sys

from opentelemetry import context, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

hold = sys.argv[1:] == ["hold"]
exporter = InMemorySpanExporter()
attributes = {"service.instance.id": "of the SDK", "answer": 42, "yes": True, "list": [1, 2]}
provider = TracerProvider(resource=Resource.create(attributes))
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("program")

with tracer.start_as_current_span("outer", attributes={"http.route": "/a"}) as outer:
    with tracer.start_as_current_span("inner") as inner:
        inner.set_attribute("rpc.method", "Find")
    outer.set_attributes({"http.route": "/late", "size": 7, "done": True, "tags": ["x"]})
    if hold:
        print("held", flush=True)
        sys.stdin.readline()
assert context.get_current() == {}
for span in exporter.get_finished_spans():
    print(span.name, span.parent is not None, sorted(span.attributes.items()))
