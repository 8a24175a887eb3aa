# SPDX-License-Identifier: Apache-2.0
"""_native.c in Python, for where that could not be built: see there."""

import contextvars
import ctypes
import functools
import gc
import sys

_loaded = ctypes.PyDLL(None)  # whatever is loaded: no library is named
_shim = {}
_keys = {}
# threading.local itself: gevent may have put one for each greenlet in its place.
_thread = next(
    type_
    for type_ in object.__subclasses__()
    if (type_.__module__, type_.__name__) == ("_thread", "_local")
)()
# What an odd span, or an SDK that is not as expected, raises. All else is of a
# signal handler, and for the program.
_ODD = AttributeError, TypeError, ValueError, OverflowError
_variable = None
_span_key = None
_plain_span = None
_inherited = None
_sdk_span = ()
_trace_greenlets = None


def abi():
    python = ctypes.pythonapi
    for function in (python.PyInterpreterState_Get, python.PyInterpreterState_Main):
        function.restype = ctypes.c_void_p
    if python.PyInterpreterState_Get() != python.PyInterpreterState_Main():
        return -1
    bytes_, byte, size = ctypes.c_char_p, ctypes.c_uint8, ctypes.c_size_t
    for name, *parameters in (
        ("abi",),
        ("key", bytes_),
        ("process_set", bytes_, bytes_),
        ("process_publish",),
        ("attach", bytes_, bytes_, byte),
        ("attr", byte, bytes_, size),
        ("attr_unset", byte),
        ("detach",),
    ):
        try:
            function = getattr(_loaded, f"otelctx_{name}")
        except AttributeError:
            return -1
        function.argtypes = parameters
        _shim[name] = function
    return _shim["abi"]()


def add_key(name):
    index = _shim["key"](name.encode())
    if index >= 0:
        _keys[name] = index
    return min(index, 0)


def process_set(key, value):
    return _shim["process_set"](key.encode(), value.encode())


def process_publish():
    return _shim["process_publish"]()


def _is_shown():
    return getattr(_thread, "is_shown", False)


def hide():
    if _is_shown():
        _shim["detach"]()
        _thread.is_shown = False


def _is_outside():
    return getattr(_thread, "is_outside", False)


def _find_span_key():
    global _span_key, _plain_span
    module = sys.modules.get("opentelemetry.trace.span")
    _plain_span = getattr(module, "NonRecordingSpan", None)
    module = sys.modules.get("opentelemetry.trace.propagation")
    _span_key = getattr(module, "_SPAN_KEY", None)
    return _span_key


def _current_span():
    context = _variable.get()
    span = context.get(_span_key or _find_span_key()) if context else None
    return None if span is _inherited else span


def _text(value):
    try:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, bool):
            return b"true" if value else b"false"
        if isinstance(value, int):
            return int.__repr__(value).encode()
        return float.__repr__(value).encode()
    except _ODD:
        return None


def _texts(span):
    if not isinstance(span, _sdk_span):
        return []
    attributes = span._attributes._dict
    return [(index, _text(attributes.get(name))) for name, index in _keys.items()]


def _show_texts(texts):
    for index, text in texts:
        if text is None or _shim["attr"](index, text, len(text)) < 0:
            _shim["attr_unset"](index)


def _context_of(span):
    if isinstance(span, _sdk_span) or type(span) is _plain_span:
        return span._context
    try:
        return span.get_span_context()
    except Exception:
        return None


def _show(span):
    context = _context_of(span)
    if not context or not context.is_valid:
        return hide()
    if isinstance(span, _sdk_span) and span._end_time:
        return hide()
    if _trace_greenlets and not getattr(_thread, "are_greenlets_traced", False):
        _thread.are_greenlets_traced = True
        _trace_greenlets()
    texts = _texts(span) if _keys else []
    trace_id = context.trace_id.to_bytes(16, "big")
    span_id = context.span_id.to_bytes(8, "big")
    was_shown = _is_shown()
    _thread.is_shown = True
    if _shim["attach"](trace_id, span_id, context.trace_flags) == 0:
        _show_texts(texts)
    else:
        _thread.is_shown = was_shown


def show_current(*_):
    try:
        span = None if _is_outside() else _current_span()
        if span is None:
            hide()
        else:
            _show(span)
    except _ODD:
        hide()
    except BaseException:
        hide()
        raise


# From Python 3.14 on, too: PyContext_AddWatcher calls while an exception is under
# way, which ctypes would lose.
def _replace_run():
    if sys.version_info >= (3, 13) and hasattr(sys, "gettotalrefcount"):
        # PyType_Modified of a debug build would abort.
        raise RuntimeError("a debug build has no contexts that can be watched")
    run = contextvars.Context.run

    def within(function, args, kwargs):
        _thread.is_outside = False
        show_current()
        return function(*args, **kwargs)

    @functools.wraps(run)
    def shown(self, function, /, *args, **kwargs):
        was_outside = _is_outside()
        try:
            return run(self, within, function, args, kwargs)
        finally:
            _thread.is_outside = was_outside
            show_current()

    # The type's own dictionary, of which __dict__ is a view.
    (attributes,) = gc.get_referents(contextvars.Context.__dict__)
    attributes["run"] = shown
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(contextvars.Context))


def start(variable):
    global _variable
    _variable = variable
    _replace_run()
    return False


def call_outside(function, *args):
    was_outside = _is_outside()
    hide()
    _thread.is_outside = True
    try:
        return function(*args)
    finally:
        _thread.is_outside = was_outside
        show_current()


class _Within:
    def __init__(self, function):
        self._otelctx = function

    def __call__(self, *args, **kwargs):
        was_outside = _is_outside()
        _thread.is_outside = False
        show_current()
        try:
            return self._otelctx(*args, **kwargs)
        finally:
            _thread.is_outside = was_outside
            hide()

    def __getattr__(self, name):
        return getattr(self._otelctx, name)

    def __repr__(self):
        return repr(self._otelctx)


def within(function):
    return _Within(function) if callable(function) else function


def set_sdk_span(type_):
    global _sdk_span
    _sdk_span = type_


def trace_greenlets(function):
    global _trace_greenlets
    _trace_greenlets = function
    if _is_shown():
        _thread.are_greenlets_traced = True
        function()


def span_ends(span):
    if _is_shown() and _current_span() is span:
        hide()


def span_changed(span):
    try:
        if _is_shown() and _current_span() is span:
            _show_texts(_texts(span))
    except _ODD:
        pass


def forked():
    global _inherited
    hide()
    _inherited = _current_span() or _inherited
