# SPDX-License-Identifier: Apache-2.0
"""What has to be noticed besides a change of the context: that a span ends or
its attributes change, that greenlets switch, a fork, a provider's resource."""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import os
import sys


def complain(message):
    if sys.stderr:  # else print() would take stdout
        with contextlib.suppress(Exception):
            print(f"otelctx[{os.getpid()}]: {message}", file=sys.stderr)


class _Spec(importlib.machinery.ModuleSpec):
    """Of a module whose import calls a function when it is complete."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "_initializing" and not value:
            function = self.__dict__.pop("_otelctx")
            self.__class__ = importlib.machinery.ModuleSpec
            if self.name in sys.modules:
                function(sys.modules[self.name])


def _tell(spec, function):
    if type(spec) is importlib.machinery.ModuleSpec:
        spec._otelctx = function
        spec.__class__ = _Spec


class _WhenImported(importlib.abc.MetaPathFinder):
    """Calls a function with a module when it has been imported; to find it is
    not enough, for programs look what there is."""

    def __init__(self, functions):
        self._functions = functions

    def find_spec(self, name, path=None, target=None):
        finders = list(sys.meta_path)
        if name not in self._functions or self not in finders:
            return None
        for finder in finders[finders.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec:
                _tell(spec, functools.partial(self._imported, name))
                return spec
        return None

    def _imported(self, name, module):
        function = self._functions.pop(name, None)
        if function:
            _call(function, module)


def _call(function, argument):
    """The program goes on when the SDK is not as expected."""
    try:
        function(argument)
    except Exception as error:
        complain(f"spans may be shown for too long: {error!r}")


def _when_imported(functions):
    later = {}
    for name, function in functions.items():
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "_initializing", False):
            # The SDK's own import may be what imports us.
            _tell(spec, functools.partial(_call, function))
        elif module:
            _call(function, module)
        else:
            later[name] = function
    if later:
        sys.meta_path.insert(0, _WhenImported(later))


def _before(owner, name, call):
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        call(self)
        return original(self, *args, **kwargs)

    setattr(owner, name, method)


def _after(owner, name, call):
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        call(self)
        return result

    setattr(owner, name, method)


class _Resource:
    """The process context is the resource of the first provider, and in a
    forked process that of the first one that it makes itself."""

    def __init__(self, core):
        self._core = core
        self._pid = None

    def publish(self, provider):
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        for key, value in provider.resource.attributes.items():
            if isinstance(value, bool):
                value = str(value).lower()
            if isinstance(value, (str, int, float)):
                self._set(key, str(value))
        self._core.process_publish()

    def _set(self, key, value):
        try:
            self._core.process_set(key, value)
        except ValueError:  # a NUL, or a lone surrogate
            pass


def _trace_greenlets(core, greenlet):
    previous = greenlet.gettrace()
    if previous is None:
        greenlet.settrace(core.show_current)
        return

    def trace(event, arguments):
        core.show_current()
        previous(event, arguments)

    greenlet.settrace(trace)


def _make_eager_tasks(core, loop):
    """An eager task enters its context by the C API, and may leave it within a
    span."""
    if sys.version_info < (3, 12):
        return
    original = loop.create_task

    @functools.wraps(original)
    def create_task(self, *args, **kwargs):
        if kwargs.get("context") is not None:
            core.hide()  # another context than that of the caller
        try:
            task = original(self, *args, **kwargs)
        finally:
            core.show_current()
        frames = getattr(task, "_source_traceback", None)  # in debug mode
        if frames:
            frames[:] = [frame for frame in frames if frame.filename != __file__]
        return task

    loop.create_task = create_task


def _enter_in_uvloop(core, loop):
    """uvloop enters the contexts of its callbacks by the C API. Which ones those
    of protocols and signal handlers are is not known."""

    def wrap(name, position):
        original = getattr(loop, name)

        @functools.wraps(original)
        def method(self, *args, **kwargs):
            if len(args) > position:
                callback = core.within(args[position])
                args = (*args[:position], callback, *args[position + 1 :])
            return original(self, *args, **kwargs)

        setattr(loop, name, method)

    for name in ("call_soon", "call_soon_threadsafe"):
        wrap(name, 0)
    for name in ("call_later", "call_at", "add_reader", "add_writer"):
        wrap(name, 1)
    run_forever = loop.run_forever

    @functools.wraps(run_forever)
    def run(self):
        return core.call_outside(run_forever, self)

    loop.run_forever = run
    _make_eager_tasks(core, loop)


def install(core, are_switches_told, has_keys, wants_resource):
    def sdk_is_there(sdk):
        core.set_sdk_span(sdk.Span)
        _before(sdk.Span, "end", core.span_ends)
        if has_keys:
            _after(sdk.Span, "set_attribute", core.span_changed)
            _after(sdk.Span, "set_attributes", core.span_changed)
        if wants_resource:
            resource = _Resource(core)
            publish = functools.partial(_call, resource.publish)
            _after(sdk.TracerProvider, "__init__", publish)

    def greenlet_is_there(greenlet):
        # A trace function is that of one thread.
        core.trace_greenlets(lambda: _trace_greenlets(core, greenlet))

    functions = {
        "opentelemetry.sdk.trace": sdk_is_there,
        "greenlet": greenlet_is_there,
    }
    if not are_switches_told:
        functions["uvloop"] = lambda uvloop: _enter_in_uvloop(core, uvloop.Loop)
        functions["asyncio.base_events"] = lambda asyncio: _make_eager_tasks(
            core, asyncio.BaseEventLoop
        )
    os.register_at_fork(after_in_child=core.forked)
    _when_imported(functions)
