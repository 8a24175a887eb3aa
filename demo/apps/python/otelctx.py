# SPDX-License-Identifier: Apache-2.0
"""Says what a thread or an asyncio task works for. Copy this file.

    with otelctx.Span(trace_id, span_id, {"http.route": "/cart"}):
        ...

The idiom: a span owns its record. It is swapped in when the span starts, and
the one around it when it ends; a context variable remembers the innermost. So
spans nest, and a task takes along the span that it was created in. When another
SDK of the program is in the way, a span is not shown. When one is there at the
end, it may show the record again: then that is kept, for good.

Tasks share a thread, and asyncio tells nobody when it goes from one to the
next. So traced() drives a task's coroutine: it swaps the task's record in for
each step, and out again. For every task that a loop creates from now on:

    asyncio.get_running_loop().set_task_factory(otelctx.task_factory)

What Python cannot do: callbacks of the loop (call_soon, add_reader) are no
tasks and show nothing. A generator that yields inside of a span leaves it on
the thread. What to_thread() runs starts a span of its own. And a span takes
ctypes ten microseconds, as does a step of a task: trace requests, not loops.
"""

import asyncio
import contextvars
import ctypes
import functools
import threading
import types


class _Record(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 80)]


# Whatever is loaded: no library is named. PyDLL keeps the GIL, unlike CDLL:
# to give it away costs more than the call.
_loaded = ctypes.PyDLL(None)
_Pointer = ctypes.POINTER(_Record)


def _function(name, *parameters):
    try:
        function = getattr(_loaded, name)
    except AttributeError:  # there is no shim
        return lambda *_: -1
    function.argtypes = parameters
    return function


_bytes, _byte, _size = ctypes.c_char_p, ctypes.c_uint8, ctypes.c_size_t
_key = _function("otelctx_key", _bytes)
_init = _function("otelctx_record_init", _Pointer, _bytes, _bytes, _byte)
_attr = _function("otelctx_record_attr", _Pointer, _byte, _bytes, _size)
_swap = _function("otelctx_swap", _Pointer, ctypes.POINTER(_Pointer))

_innermost = contextvars.ContextVar("otelctx.innermost", default=None)
_kept = set()


@functools.lru_cache(maxsize=256)
def _index(name):
    return _key(name.encode())


def _show(record):
    """Shows the record (None: nothing) and returns what was shown before, or
    None: somebody else is in the way."""
    before = _Pointer()
    return before if _swap(record, before) == 0 else None


class Span:
    """What the thread, or the task, works for within a `with`."""

    def __init__(self, trace_id, span_id, attributes={}):
        if len(trace_id) != 16 or len(span_id) != 8:
            raise ValueError("a trace id has 16 bytes, a span id 8")
        self._record = _Record()
        _init(self._record, trace_id, span_id, 1)
        for name, value in attributes.items():
            key, text = _index(name), value.encode(errors="replace")
            if key >= 0:
                _attr(self._record, key, text, len(text))

    def __enter__(self):
        self._token = _innermost.set(self)
        self._before = _show(self._record)
        self._thread = threading.get_ident()
        return self

    def __exit__(self, *_):
        _innermost.reset(self._token)
        if self._before is None:
            return
        outer = _innermost.get()
        # Not always what was there before: between the two, a task was away. But
        # the outer one may be that of the thread which called to_thread().
        is_here = outer and outer._thread == self._thread
        was_shown = is_here and outer._before is not None
        if _show(outer._record if was_shown else self._before) is None:
            _kept.add(self)


@types.coroutine
def _steps(coroutine):
    step = functools.partial(coroutine.send, None)
    while True:
        span = _innermost.get()
        before = _show(span._record if span else None)
        if span:
            span._before = before
        elif before is not None:  # then the task shows what the thread does
            _show(before)
        try:
            awaited = step()
        except StopIteration as end:
            return end.value
        finally:
            span = _innermost.get()
            if before is not None and _show(before) is None and span:
                _kept.add(span)
        try:
            step = functools.partial(coroutine.send, (yield awaited))
        except BaseException as error:  # the task is cancelled
            step = functools.partial(coroutine.throw, error)


async def traced(coroutine):
    """Awaits the coroutine, and shows its spans only while it runs."""
    return await _steps(coroutine)


def task_factory(loop, coroutine, **options):
    return asyncio.Task(traced(coroutine), loop=loop, **options)
