#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0

"""Datadog's tracer and the shim, in one process and for one variable. It does
what it is told on stdin, one word a line, and prints what each gave:

    span    starts a span inside of the one that is active; gives its id
    finish  ends it
    kept    1: the record in the slot is as it was when the span began

The others are calls of the shim, as in tests/e2e/hosts/sharer.c."""

import ctypes
import sys

from ddtrace.trace import tracer

TRACE_ID, SPAN_ID = b"\x11" * 16, b"\x22" * 8

process = ctypes.CDLL(None)
process.otelctx_pin.restype = ctypes.c_void_p
spans = []
record = b""


def slot():
    return ctypes.c_void_p.in_dll(process, "otel_thread_ctx_v1").value


def in_slot():
    return ctypes.string_at(slot(), 640) if slot() else None


def span():
    global record
    spans.append(tracer.trace("work"))
    record = in_slot()
    return f"{spans[-1].span_id:016x}"


calls = {
    "span": span,
    "finish": lambda: spans.pop().finish() or 0,
    "kept": lambda: int(in_slot() == record),
    "abi": process.otelctx_abi,
    "attach": lambda: process.otelctx_attach(TRACE_ID, SPAN_ID, 1),
    "attr": lambda: process.otelctx_attr(0, b"ours", 4),
    "unset": lambda: process.otelctx_attr_unset(0),
    "detach": process.otelctx_detach,
    "get": lambda: process.otelctx_get(ctypes.create_string_buffer(25)),
    "pin": lambda: int(process.otelctx_pin() is not None),
    "swapout": lambda: process.otelctx_swap(None, None),
}
for line in sys.stdin:
    word = line.strip()
    print(word, calls[word](), flush=True)
