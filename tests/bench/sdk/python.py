# SPDX-License-Identifier: Apache-2.0
"""What the bridge adds to making a span current and to entering a context.

    OTEL_PYTHON_CONTEXT=otelctx LD_PRELOAD=libotelctx_preload.so python3 python.py [fallback]

Prints nanoseconds without the bridge, with it, the difference and the ratio. The
two are measured in turns; the best of each counts. Context.run has no turns,
because the bridge replaces it for good.
"""

import contextvars
import functools
import sys
import timeit

ROUNDS, CALLS = 300, 500


def best(function, rounds=ROUNDS):
    timer = timeit.Timer(function)
    return min(timer.repeat(rounds, CALLS)) / CALLS * 1e9


run = functools.partial(contextvars.Context().run, int)
run_without = best(run)
if sys.argv[1:] == ["fallback"]:
    sys.modules["otelctx_opentelemetry._native"] = None

from opentelemetry import context, trace  # noqa: E402
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402

bridge = context._RUNTIME_CONTEXT
if type(bridge) is ContextVarsRuntimeContext:
    sys.exit("the bridge is off: set OTEL_PYTHON_CONTEXT and LD_PRELOAD")
attributes = {"http.route": "/cart", "rpc.method": "Find"}
tracer = TracerProvider().get_tracer("bench")
span = tracer.start_span("span", attributes=attributes)
with_span = trace.set_span_in_context(span)


def attach_and_detach():
    context.detach(context.attach(with_span))


def use():
    with trace.use_span(span):
        pass


def start_and_end():
    with tracer.start_as_current_span("span"):
        pass


def compare(name, function):
    times = {}
    for runtime_context in [ContextVarsRuntimeContext(), bridge] * ROUNDS:
        context._RUNTIME_CONTEXT = runtime_context
        time = best(function, 1)
        times[runtime_context is bridge] = min(time, times.get(runtime_context is bridge, time))
    report(name, times[False], times[True])


def report(name, without, with_bridge):
    print(
        f"{name:28} {without:7.0f} {with_bridge:7.0f} {with_bridge - without:+7.0f} ns"
        f"  x {with_bridge / without:.2f}"
    )


report("Context.run, no span", run_without, best(functools.partial(contextvars.Context().run, int)))
compare("attach and detach", attach_and_detach)
compare("use_span", use)
compare("start_as_current_span", start_and_end)
