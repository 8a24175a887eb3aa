# SPDX-License-Identifier: Apache-2.0

"""Opens the shim that its argument names, and attaches a context to the second
of its three threads. Then an attribute of its process context says ready."""

import ctypes
import sys
import threading

shim = ctypes.CDLL(sys.argv[1])
attached, never = threading.Event(), threading.Event()


def work():
    key = shim.otelctx_key(b"http.route")
    shim.otelctx_attach(b"\x4b" * 16, b"\xf0" * 8, 1)
    shim.otelctx_attr(key, b"/late", 5)
    attached.set()
    never.wait()


threading.Thread(target=work).start()
attached.wait()
threading.Thread(target=never.wait).start()
shim.otelctx_process_set(b"ready", b"yes")
shim.otelctx_process_publish()
never.wait()
