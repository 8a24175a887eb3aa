# SPDX-License-Identifier: Apache-2.0
"""_native.c in Python, for where that could not be built: see there."""

import contextvars
import ctypes
import functools
import gc
import sys
import threading

_loaded = ctypes.PyDLL(None)  # whatever is loaded: no library is named
_shim = {}
_keys = {}
_thread = threading.local()
_variable = None
_span_key = None
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


def _hide():
    if _is_shown():
        _thread.is_shown = False
        _shim["detach"]()


def _find_span_key():
    global _span_key
    module = sys.modules.get("opentelemetry.trace.propagation")
    _span_key = getattr(module, "_SPAN_KEY", None)
    return _span_key


def _current_span():
    context = _variable.get()
    if not context or context is _inherited:
        return None
    return context.get(_span_key or _find_span_key())


def _text(value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return str(value).encode() if isinstance(value, (int, float)) else None


def _texts(span):
    if not isinstance(span, _sdk_span):
        return []
    attributes = span._attributes._dict
    return [
        (index, text)
        for name, index in _keys.items()
        if (text := _text(attributes.get(name))) is not None
    ]


def _show_texts(texts):
    for index, text in texts:
        _shim["attr"](index, text, len(text))


def _show(span):
    context = span.get_span_context()
    if not context.is_valid or isinstance(span, _sdk_span) and span._end_time:
        return _hide()
    if _trace_greenlets and not getattr(_thread, "are_greenlets_traced", False):
        _thread.are_greenlets_traced = True
        _trace_greenlets()
    texts = _texts(span) if _keys else []
    trace_id = context.trace_id.to_bytes(16, "big")
    span_id = context.span_id.to_bytes(8, "big")
    if _shim["attach"](trace_id, span_id, context.trace_flags) == 0:
        _thread.is_shown = True
        _show_texts(texts)


def show_current(*_):
    try:
        span = _current_span()
        if span is None:
            _hide()
        else:
            _show(span)
    except Exception:
        _hide()


# From Python 3.14 on, too: PyContext_AddWatcher calls while an exception is under
# way, which ctypes would lose.
def _replace_run():
    if sys.version_info >= (3, 13) and hasattr(sys, "gettotalrefcount"):
        # PyType_Modified of a debug build would abort.
        raise RuntimeError("a debug build has no contexts that can be watched")
    run = contextvars.Context.run

    def within(function, args, kwargs):
        show_current()
        return function(*args, **kwargs)

    @functools.wraps(run)
    def shown(self, function, /, *args, **kwargs):
        try:
            return run(self, within, function, args, kwargs)
        finally:
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


def call_within(function, *args):
    show_current()
    try:
        return function(*args)
    finally:
        _hide()


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
        _hide()


def span_changed(span):
    try:
        if _is_shown() and _current_span() is span:
            _show_texts(_texts(span))
    except Exception:
        pass


def forked():
    global _inherited
    _hide()
    _inherited = _variable.get()
