# SPDX-License-Identifier: Apache-2.0
"""Datadog's tracer for Python, and the shim, each in a process of its own:

    peer.py otelctx|datadog show
    peer.py otelctx|datadog measure ROUNDS

The lines are those of pairs.h. Floor A is called through a compiled module, too."""

import itertools
import sys
import time

from bench_peers_native import attach, detach, floor_clear, floor_set

PLAIN = "Python: attach + detach"
OVER = "Python: attach, in place of another"
TRACE_ID = bytes.fromhex("01020300000000000000000000000000")
SPAN_ID = bytes.fromhex("0405060000000000")
BLOCK_NS = 100_000


def floor(times):
    for _ in itertools.repeat(None, times):
        floor_set()
        floor_clear()


def otelctx():
    def publish():
        attach(TRACE_ID, SPAN_ID, 1)

    def loop(times):
        for _ in itertools.repeat(None, times):
            attach(TRACE_ID, SPAN_ID, 1)
            detach()

    def loop_over(times):
        attach(TRACE_ID, SPAN_ID, 1)
        for _ in itertools.repeat(None, times):
            attach(TRACE_ID, SPAN_ID, 1)
        detach()

    name = "otelctx, a compiled module"
    return [(PLAIN, name, publish, loop), (OVER, name, publish, loop_over)]


def datadog():
    # What its tracer calls whenever another span becomes the active one.
    from ddtrace.internal.native._native import Context
    from ddtrace.internal.native._native import detach_otel_thread_context as end
    from ddtrace.internal.native._native import update_otel_thread_context_from_context as update

    trace_id, span_id = (int.from_bytes(id, "big") for id in (TRACE_ID, SPAN_ID))
    context = Context(trace_id=trace_id, span_id=span_id)

    def publish():
        update(context, 1)

    def loop(times):
        for _ in itertools.repeat(None, times):
            update(context, 1)
            end()

    def loop_over(times):
        update(context, 1)
        for _ in itertools.repeat(None, times):
            update(context, 1)
        end()

    name = "ddtrace, its compiled module"
    return [(PLAIN, name, publish, loop), (OVER, name, publish, loop_over)]


def block(run, times):
    begin = time.perf_counter_ns()
    run(times)
    return (time.perf_counter_ns() - begin) / times


def times_of(run):
    block(run, 100_000)  # the interpreter adapts its bytecode
    return 1 + int(BLOCK_NS / block(run, 1000))


def measure(subjects, rounds):
    time.sleep(1.1)  # bench_wait_for_look() of bench.h says why
    floor_times = times_of(floor)
    times = [times_of(loop) for *_, loop in subjects]
    before = block(floor, floor_times)
    for _ in range(rounds):
        for (row, name, _, loop), k in zip(subjects, times):
            ns = block(loop, k)
            after = block(floor, floor_times)
            print(row, name, before, ns, after, sep="\t")
            before = after


def show(subjects):
    for row, name, publish, _ in subjects:
        publish()
        print(f"{row}\t{name}\npublished", flush=True)
        sys.stdin.readline()


def main():
    subjects = {"otelctx": otelctx, "datadog": datadog}[sys.argv[1]]()
    if sys.argv[2] == "show":
        show(subjects)
    else:
        measure(subjects, int(sys.argv[3]))


if __name__ == "__main__":
    main()
