# SPDX-License-Identifier: Apache-2.0
"""Three threads serve a request each, and each says so to readers outside.

    LD_PRELOAD=libotelctx_preload.so python3 threads.py hold
    otelctx-read --threads PID                         (in another terminal)
"""

import sys
import threading

from otelctx import Span

WORKERS = range(1, 4)
hold = sys.argv[1:] == ["hold"]
step = threading.Barrier(len(WORKERS) + 1)


def look_here():
    """With `hold`: waits here for the others, and then for main to go on."""
    if hold:
        step.wait()
        step.wait()


def ids(number, level):
    """A tracer makes up ids; by these one sees who is who."""
    return bytes([number] * 16), bytes([level + number] * 8)


def query(number):
    with Span(*ids(number, 0x20), {"db.operation.name": "SELECT"}):
        look_here()
        return 10 * number


def serve(number):
    user = f"user-{number}"
    with Span(*ids(number, 0x10), {"http.route": "/cart", "user.id": user}):
        rows = query(number)
        look_here()  # the request's own context is back
        return rows


def work(number, results):
    results[number] = serve(number)
    look_here()


def main():
    results = {}
    threads = [
        threading.Thread(target=work, args=(number, results))
        for number in WORKERS
    ]
    for thread in threads:
        thread.start()
    for what in ["query", "request", "idle"] if hold else []:
        step.wait()
        print(what, flush=True)
        sys.stdin.readline()
        step.wait()
    for number, thread in zip(WORKERS, threads):
        thread.join()
        print(f"worker {number}: {results[number]} rows")


main()
