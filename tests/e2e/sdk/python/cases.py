# SPDX-License-Identifier: Apache-2.0
"""What the shim has for this thread wherever the SDK's context changes.

Usage: cases.py [fallback]
"""

import asyncio
import contextvars
import ctypes
import os
import sys
import threading

context_of_none = contextvars.copy_context()


def run(context, function):
    return context.run(function)


for _ in range(10000):  # the interpreter specialises the call for the method
    run(context_of_none, int)
if sys.argv[1:] == ["fallback"]:
    sys.modules["otelctx_opentelemetry._native"] = None
are_switches_told = sys.version_info >= (3, 14) and sys.argv[1:] != ["fallback"]
# Then a thread starts in a copy of the context that started it.
do_threads_inherit = getattr(sys.flags, "thread_inherit_context", False)

from opentelemetry import context, trace  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402

tracer = TracerProvider().get_tracer("cases")
library = ctypes.PyDLL(None)


class Ids(ctypes.Structure):
    _fields_ = [
        ("trace_id", ctypes.c_uint8 * 16),
        ("span_id", ctypes.c_uint8 * 8),
        ("flags", ctypes.c_uint8),
    ]


def shown():
    ids = Ids()
    if library.otelctx_get(ctypes.byref(ids)) < 0:
        return None
    return bytes(ids.trace_id), bytes(ids.span_id), ids.flags


def ids(span):
    context = span.get_span_context()
    return (
        context.trace_id.to_bytes(16, "big"),
        context.span_id.to_bytes(8, "big"),
        int(context.trace_flags),
    )


def current(name, **options):
    return tracer.start_as_current_span(name, **options)


def attach(span):
    return context.attach(trace.set_span_in_context(span))


def another_owner_is_left_alone():
    slot = ctypes.c_void_p.in_dll(library, "otel_thread_ctx_v1")
    record = (ctypes.c_uint64 * 80)()
    slot.value = theirs = ctypes.addressof(record)
    with current("outer") as outer:
        assert slot.value == theirs
        outer.set_attribute("http.route", "/late")
    assert slot.value == theirs
    assert not any(record)
    slot.value = None


def spans_nest():
    with current("outer") as outer:
        assert shown() == ids(outer)
        with current("inner") as inner:
            assert shown() == ids(inner)
        assert shown() == ids(outer)
    assert shown() is None


def an_ended_span_is_not_shown():
    span = tracer.start_span("ends")
    token = attach(span)
    assert shown() == ids(span)
    span.end()
    assert shown() is None
    with current("inner") as inner:
        assert shown() == ids(inner)
    assert shown() is None
    context.detach(token)


def a_remote_parent_is_shown_and_an_invalid_span_is_not():
    remote = trace.SpanContext(1, 2, is_remote=True, trace_flags=trace.TraceFlags(1))
    token = attach(trace.NonRecordingSpan(remote))
    assert shown() == ((1).to_bytes(16, "big"), (2).to_bytes(8, "big"), 1)
    inner = attach(trace.INVALID_SPAN)
    assert shown() is None
    context.detach(inner)
    assert shown() is not None
    context.detach(token)


def a_context_that_runs_shows_its_span():
    with current("outer") as outer:
        captured = contextvars.copy_context()
        assert run(contextvars.Context(), shown) is None
        assert shown() == ids(outer)
    assert run(captured, shown) is None  # ended
    span = tracer.start_span("runs")
    captured.run(attach, span)
    assert shown() is None
    assert run(captured, shown) == ids(span)
    assert shown() is None


def errors_of_run_are_those_of_python():
    for wrong in (
        lambda: contextvars.Context().run(),
        lambda: contextvars.Context().run(1),
        lambda: contextvars.copy_context().run(int, "x"),
        lambda: (lambda c: c.run(c.run, int))(contextvars.Context()),
    ):
        try:
            wrong()
        except (TypeError, ValueError, RuntimeError):
            assert shown() is None
        else:
            raise AssertionError


def an_error_leaves_a_context_as_it_is():
    error = KeyError("theirs")

    def fail():
        with current("inner"):
            raise error

    with current("outer") as outer:
        for captured in contextvars.Context(), contextvars.copy_context():
            try:
                captured.run(fail)
            except KeyError as caught:
                assert caught is error
            assert shown() == ids(outer)


def c_code_that_enters_a_context_shows_its_span():
    if not are_switches_told:
        return
    enter, leave = ctypes.pythonapi.PyContext_Enter, ctypes.pythonapi.PyContext_Exit
    enter.argtypes = leave.argtypes = (ctypes.py_object,)
    with current("outer") as outer:
        captured = contextvars.copy_context()
        empty = contextvars.Context()
        enter(empty)
        assert shown() is None
        enter(captured)
        assert shown() == ids(outer)
        leave(captured)
        assert shown() is None
        leave(empty)
        assert shown() == ids(outer)


def a_thread_shows_what_it_runs():
    with current("outer") as outer:
        captured = contextvars.copy_context()
        seen = []

        def work():
            seen.append(shown())
            seen.append(captured.run(shown))
            seen.append(shown())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        outside = ids(outer) if do_threads_inherit else None
        assert seen == [outside, ids(outer), outside], seen
        assert shown() == ids(outer)


def a_forked_process_shows_its_own_spans_only():
    with current("outer"):
        with current("inner"):
            pid = os.fork()
            if pid == 0:
                good = shown() is None
                with current("own") as own:
                    good &= shown() == ids(own)
                good &= shown() is None
                os._exit(0 if good else 1)
            assert os.waitpid(pid, 0)[1] == 0


async def request(wrong):
    with current("request", context=context.Context()) as span:
        for turn in range(4):
            if shown() != ids(span):
                wrong.append(turn)
            await asyncio.sleep(0)
        outside = await asyncio.get_running_loop().run_in_executor(None, shown)
        if outside and not do_threads_inherit:
            wrong.append("another thread")


async def requests(**options):
    wrong = []
    tasks = []
    asyncio.get_running_loop().call_soon(lambda: wrong.append("callback") if shown() else 0)
    for _ in range(30):
        tasks.append(asyncio.create_task(request(wrong), **options))
        if shown():
            wrong.append("after create_task")
    await asyncio.gather(*tasks)
    assert shown() is None
    assert not wrong, wrong


def tasks_show_their_spans():
    asyncio.run(requests())


def eager_tasks_show_their_spans():
    async def eager():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        await requests()

    if sys.version_info >= (3, 12):
        asyncio.run(eager())
    if sys.version_info >= (3, 14):
        asyncio.run(requests(eager_start=True))


def an_eager_task_without_its_loop_shows_its_span():
    async def make():
        loop = asyncio.get_running_loop()
        wrong = []
        with current("outer") as outer:
            task = asyncio.Task(request(wrong), loop=loop, eager_start=True)
            assert shown() == ids(outer)
            await task
            assert shown() == ids(outer)
        assert not wrong, wrong

    if are_switches_told:
        asyncio.run(make())


def tasks_of_uvloop_show_their_spans():
    try:
        import uvloop
    except ImportError:
        return
    loop = uvloop.new_event_loop()
    loop.run_until_complete(requests())
    if sys.version_info >= (3, 14):
        loop.run_until_complete(requests(eager_start=True))
    elif sys.version_info[:2] == (3, 12):  # uvloop and 3.13.0 do not go together
        loop.set_task_factory(asyncio.eager_task_factory)
        loop.run_until_complete(requests())
    loop.close()


def greenlets_show_their_spans():
    try:
        import gevent
        import greenlet
    except ImportError:
        return
    wrong = []

    def work():
        with current("greenlet", context=context.Context()) as span:
            for turn in range(4):
                if shown() != ids(span):
                    wrong.append(turn)
                gevent.sleep(0)

    events = []
    greenlet.settrace(lambda *event: events.append(event))
    thread_local = [gevent.spawn(work) for _ in range(10)]
    for _ in range(3):
        gevent.sleep(0)
        if shown():
            wrong.append("main")
    gevent.joinall(thread_local)
    assert not wrong, wrong
    assert events  # the trace function that was there still is


# The last one is about what is set once per thread.
for case in (
    spans_nest,
    an_ended_span_is_not_shown,
    a_remote_parent_is_shown_and_an_invalid_span_is_not,
    a_context_that_runs_shows_its_span,
    errors_of_run_are_those_of_python,
    an_error_leaves_a_context_as_it_is,
    c_code_that_enters_a_context_shows_its_span,
    a_thread_shows_what_it_runs,
    a_forked_process_shows_its_own_spans_only,
    tasks_show_their_spans,
    eager_tasks_show_their_spans,
    an_eager_task_without_its_loop_shows_its_span,
    tasks_of_uvloop_show_their_spans,
    another_owner_is_left_alone,
):
    case()
    assert shown() is None, case.__name__
thread = threading.Thread(target=greenlets_show_their_spans)
failed = []
threading.excepthook = failed.append
thread.start()
thread.join()
assert not failed, failed
