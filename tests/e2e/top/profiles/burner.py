# SPDX-License-Identifier: Apache-2.0
"""Three threads that burn: two work for a route each, the main one for none.

usage: burner.py ROUTE ROUTE
"""

import hashlib
import sys
import threading

from otelctx import Span

block = bytes(1 << 20)  # hashing so much, Python lets other threads run


def burn():
    while True:
        hashlib.sha256(block)


def serve(number, route):
    with Span(bytes([number] * 16), bytes([0x10 + number] * 8), {"http.route": route}):
        burn()


for number, route in enumerate(sys.argv[1:], 1):
    threading.Thread(
        target=serve, args=(number, route), name=f"serve-{number}", daemon=True
    ).start()
print("burning", flush=True)
burn()
