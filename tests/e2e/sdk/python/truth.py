# SPDX-License-Identifier: Apache-2.0
"""What a handler works for: see truth.h. And what the servers have in common:
an exporter that appends the ids of each span to a file."""

import mmap
import os
import threading

from opentelemetry import trace
from opentelemetry.sdk.trace.export import (
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)

SLOTS, SIZE = 4096, 64

_file = os.open(os.environ["TRUTH"], os.O_RDWR)
_slots = memoryview(mmap.mmap(_file, SLOTS * SIZE))
_words = _slots.cast("Q")
_threads = threading.local()


def _forked():
    global _threads
    _threads = threading.local()


os.register_at_fork(after_in_child=_forked)


def _slot():
    """By /proc, because gevent gives threads of its own to who asks threading."""
    try:
        return _threads.slot
    except AttributeError:
        tid = int(os.readlink("/proc/thread-self").rsplit("/", 1)[1])
        _threads.slot = tid % SLOTS
        at = _threads.slot * SIZE
        _slots[at + 8 : at + 12] = os.getpid().to_bytes(4, "little")
        _slots[at + 12 : at + 16] = tid.to_bytes(4, "little")
        return _threads.slot


def ids(span):
    context = span.get_span_context()
    return context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big")


def begin(span, route=""):
    slot = _slot()
    at = slot * SIZE
    _slots[at + 16 : at + 32], _slots[at + 32 : at + 40] = ids(span)
    _slots[at + 40 : at + 64] = route.encode().ljust(24, b"\0")
    assert _words[at // 8] % 2 == 0
    _words[at // 8] += 1


def end():
    _words[_slot() * SIZE // 8] += 1


def compute():
    return sum(range(20000))


def within(span, route=""):
    """One stretch of work of a handler."""
    begin(span, route)
    compute()
    end()


def stretches(route):
    """The work of a handler: yields where it is to wait."""
    span = trace.get_current_span()
    within(span, route)
    yield
    within(span, route)
    with trace.get_tracer(__name__).start_as_current_span("query") as query:
        within(query)
        yield
        within(query)
        query.set_attribute("http.route", "/query")
        within(query, "/query")
    within(span, route)
    yield
    span.set_attribute("http.route", "/late")
    within(span, "/late")
    yield " ".join(part.hex() for part in ids(span))


class _File(SpanExporter):
    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def export(self, spans):
        lines = [" ".join(part.hex() for part in ids(span)) + "\n" for span in spans]
        os.write(self._file, "".join(lines).encode())
        return SpanExportResult.SUCCESS


def export(provider=None):
    provider = provider or trace.get_tracer_provider()
    provider.add_span_processor(SimpleSpanProcessor(_File(os.environ["EXPORTED"])))
