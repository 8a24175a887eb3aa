# SPDX-License-Identifier: Apache-2.0
"""What a handler in Python works for: see ../sdk/truth.h. The caller has said the
request as a parameter, too, apart from its `traceparent`."""

import mmap
import os

SLOTS, SIZE = 4096, 64

_file = os.open(os.environ["TRUTH"], os.O_RDWR)
_slots = memoryview(mmap.mmap(_file, SLOTS * SIZE))
_words = _slots.cast("Q")


def work(ids, route, rounds=3):
    """ids: the trace id and the span id, 48 digits; route: http.route, if shown."""
    if "OTELCTX_REQUEST_ATTRIBUTES" not in os.environ:
        route = ""
    tid = int(os.readlink("/proc/thread-self").rsplit("/", 1)[1])
    at = tid % SLOTS * SIZE
    _slots[at + 8 : at + 12] = os.getpid().to_bytes(4, "little")
    _slots[at + 12 : at + 16] = tid.to_bytes(4, "little")
    for _ in range(rounds):
        _slots[at + 16 : at + 40] = bytes.fromhex(ids)
        _slots[at + 40 : at + 64] = route.encode().ljust(24, b"\0")
        _words[at // 8] += 1
        sum(range(20000))
        _words[at // 8] += 1


def application(environ, start_response):
    """For a WSGI server: /IDS or /birds/7/IDS; reads the body, works before and after."""
    *way, ids = environ["PATH_INFO"].split("/")
    route = "/birds/*/*" if "birds" in way else "/*"
    work(ids, route)
    environ["wsgi.input"].read()
    work(ids, route)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
