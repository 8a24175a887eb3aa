# SPDX-License-Identifier: Apache-2.0
"""What the shim has for this thread wherever the SDK's context changes.

Usage: cases.py [fallback]
"""

import asyncio
import contextvars
import ctypes
import os
import signal
import socket
import subprocess
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


def attributes():
    found = {}
    slot = ctypes.c_void_p.in_dll(library, "otel_thread_ctx_v1")
    record = ctypes.string_at(slot.value, 640)
    rest = record[28 : 28 + int.from_bytes(record[26:28], "little")]
    while rest:
        found[rest[0]] = rest[2 : 2 + rest[1]].decode()
        rest = rest[2 + rest[1] :]
    return list(found.values())


FRESH = """
import sys
if sys.argv[1:] == ["fallback"]:
    sys.modules["otelctx_opentelemetry._native"] = None
"""


def fresh(program, **environment):
    """What a program of its own prints."""
    words = [sys.executable, "-c", FRESH + program, *sys.argv[1:]]
    done = subprocess.run(
        words, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done
    return done.stdout.decode()


SHOWN = """
import ctypes
def shown():
    return ctypes.PyDLL(None).otelctx_get(ctypes.create_string_buffer(32)) == 0
"""
ENDS = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry import context, trace
span = TracerProvider().get_tracer("cases").start_span("ends")
context.attach(trace.set_span_in_context(span))
print(shown())
span.end()
print(shown())
"""


def the_sdk_may_be_what_is_imported_first():
    assert fresh(SHOWN + ENDS) == "True\nFalse\n"


def to_find_the_sdk_is_not_to_import_it():
    find = """
import importlib.util, opentelemetry.context
for _ in range(2):
    importlib.util.find_spec("opentelemetry.sdk.trace")
"""
    assert fresh(find + SHOWN + ENDS) == "True\nFalse\n"


def messages_do_not_go_to_stdout():
    program = """
sys.stderr = None
import opentelemetry.context
print("all")
"""
    assert fresh(program, OTELCTX_RESOURCE="wrong") == "all\n"


def greenlets_of_a_patched_program_show_their_spans():
    try:
        import gevent  # noqa: F401
    except ImportError:
        return
    program = """
from gevent import monkey
monkey.patch_all()
import gevent
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
tracer = TracerProvider().get_tracer("cases")
seen = []
def work():
    with tracer.start_as_current_span("work"):
        gevent.sleep(0)
def other():
    seen.append(shown())
    gevent.sleep(0)
for _ in range(1500):
    gevent.joinall([gevent.spawn(work), gevent.spawn(other)])
print(any(seen))
"""
    assert fresh(SHOWN + program) == "False\n"


def an_attribute_that_has_no_text_is_not_shown():
    with current("outer", attributes={"http.route": "/a"}) as outer:
        assert attributes() == ["/a"]
        outer.set_attribute("http.route", ["a", "list"])
        assert attributes() == []
    for odd in 10**5000, "\udcff":
        with current("odd", attributes={"http.route": odd}) as span:
            assert shown() == ids(span)
            assert attributes() == []


def an_attribute_without_room_is_not_shown():
    with current("outer", attributes={"http.route": "/a"}) as outer:
        outer.set_attributes({"long": "x" * 255, "longer": "y" * 255})
        assert attributes() == ["/a", "x" * 255, "y" * 255]
        outer.set_attribute("http.route", "z" * 255)
        assert attributes() == ["x" * 255, "y" * 255]


def an_exception_of_a_signal_handler_is_not_lost():
    class Alarm(Exception):
        pass

    raised = []
    caught = 0

    def handler(*_):
        raised.append(True)
        raise Alarm

    def attach_until_it_rings(turn):
        while len(raised) == turn:
            attach(outer)

    old = signal.signal(signal.SIGALRM, handler)
    outer = tracer.start_span("outer")
    for turn in range(300):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002)
            contextvars.Context().run(attach_until_it_rings, turn)
        except Alarm:
            caught += 1
    signal.signal(signal.SIGALRM, old)
    assert caught == 300, caught


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
                token = context.attach(context.set_value("theirs", 1))
                good &= shown() is None
                context.detach(token)
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


def an_eager_task_in_another_context_shows_its_span():
    wrong = []

    async def work():
        if shown():
            wrong.append("outer")
        await request(wrong)

    async def make():
        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.eager_task_factory)
        with current("outer") as outer:
            task = loop.create_task(work(), context=contextvars.Context())
            assert shown() == ids(outer)
            await task

    if sys.version_info >= (3, 12):
        asyncio.run(make())
    assert not wrong, wrong


def tasks_know_where_they_were_made():
    async def make():
        loop = asyncio.get_running_loop()
        loop.set_debug(True)
        task = asyncio.create_task(asyncio.sleep(0))
        files = [os.path.basename(frame.filename) for frame in task._source_traceback]
        await task
        assert "_hooks.py" not in files

    asyncio.run(make())


class Protocol(asyncio.Protocol):
    seen = []

    def data_received(self, data):
        active = trace.get_current_span()
        if shown() not in (None, ids(active)):
            self.seen.append("another's")
        with current("inner"):
            pass
        self.seen.append(active)


async def protocols():
    loop = asyncio.get_running_loop()
    mine, theirs = zip(*(socket.socketpair() for _ in range(2)))
    for end in theirs:
        with current("connects", end_on_exit=False):
            await loop.create_connection(Protocol, sock=end)
    for end in mine:
        end.send(b"x")
    while len(Protocol.seen) < 2:
        await asyncio.sleep(0)
    assert len(set(Protocol.seen)) == 2 and "another's" not in Protocol.seen
    handle = loop.call_later(1, protocols)
    assert repr(handle) == "<TimerHandle protocols>", handle
    handle.cancel()


def tasks_of_uvloop_show_their_spans():
    try:
        import uvloop
    except ImportError:
        return
    loop = uvloop.new_event_loop()
    loop.run_until_complete(requests())
    loop.run_until_complete(protocols())
    with current("outer") as outer:
        loop.run_until_complete(asyncio.sleep(0))
        assert shown() == ids(outer)
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
    the_sdk_may_be_what_is_imported_first,
    to_find_the_sdk_is_not_to_import_it,
    messages_do_not_go_to_stdout,
    greenlets_of_a_patched_program_show_their_spans,
    spans_nest,
    an_attribute_that_has_no_text_is_not_shown,
    an_attribute_without_room_is_not_shown,
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
    an_eager_task_in_another_context_shows_its_span,
    tasks_know_where_they_were_made,
    tasks_of_uvloop_show_their_spans,
    an_exception_of_a_signal_handler_is_not_lost,
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
