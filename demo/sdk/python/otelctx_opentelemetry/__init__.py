# SPDX-License-Identifier: Apache-2.0
"""Shows the current span of the OpenTelemetry SDK to readers outside.

OTEL_PYTHON_CONTEXT=otelctx has the SDK keep its context in what
runtime_context() returns: the SDK's own runtime context, and a call at each
change. Without the shim, or when it is disabled, it is the SDK's own alone.
"""

import os
import sys

from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext

from . import _hooks


def _load_core():
    # In a process without the GIL, an extension module that does not expect
    # that would turn it on.
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        try:
            from . import _native

            return _native
        except ImportError:
            pass  # there was no compiler, or it was for another Python
    from . import _fallback

    return _fallback


def _add_key(core, name):
    try:
        return core.add_key(name)
    except UnicodeError:
        return -1


def _add_keys(core):
    names = os.environ.get("OTELCTX_SPAN_ATTRIBUTES", "").split(",")
    are_there = False
    for name in filter(None, (name.strip() for name in names)):
        if _add_key(core, name) < 0:
            _hooks.complain(f"OTELCTX_SPAN_ATTRIBUTES: cannot register {name!r}")
        else:
            are_there = True
    return are_there


def _wants_resource():
    value = os.environ.get("OTELCTX_RESOURCE", "")
    if value not in ("", "sdk"):
        _hooks.complain(f"OTELCTX_RESOURCE={value}: not 'sdk', ignored")
    return value == "sdk"


class OtelctxRuntimeContext(ContextVarsRuntimeContext):
    """Shows the span of each context that a thread attaches."""

    def __init__(self, core):
        super().__init__()
        self._show_current = core.show_current

    def attach(self, context):
        token = self._current_context.set(context)
        self._show_current()
        return token

    def detach(self, token):
        self._current_context.reset(token)
        self._show_current()


def runtime_context():
    try:
        core = _load_core()
        if core.abi() < 0:
            return ContextVarsRuntimeContext()
        context = OtelctxRuntimeContext(core)
        are_switches_told = core.start(context._current_context)
        _hooks.install(core, are_switches_told, _add_keys(core), _wants_resource())
        return context
    except Exception as error:
        _hooks.complain(f"spans are not shown: {error!r}")
        return ContextVarsRuntimeContext()
