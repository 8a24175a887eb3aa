# SPDX-License-Identifier: Apache-2.0
"""Three tasks of one thread serve a request each. While a task runs, readers
outside see what it works for; while the loop waits, they see nothing.

    LD_PRELOAD=libotelctx_preload.so python3 tasks.py hold
    otelctx-read --threads PID                         (in another terminal)
"""

import asyncio
import sys

import otelctx
from otelctx import Span

WORKERS = range(1, 4)
hold = sys.argv[1:] == ["hold"]


def look_here(what):
    """With `hold`: the loop stops here, inside of a task, for a line."""
    if hold:
        print(what, flush=True)
        sys.stdin.readline()


def ids(number, level):
    """A tracer makes up ids; by these one sees who is who."""
    return bytes([number] * 16), bytes([level + number] * 8)


async def query(number, database):
    look_here(f"request {number}")  # a task of its own, within the request
    with Span(*ids(number, 0x20), {"db.operation.name": "SELECT"}):
        look_here(f"query {number}")
        answer = asyncio.get_running_loop().create_future()
        database.put_nowait((number, answer))
        rows = await answer
        look_here(f"query {number}")
        return rows


async def serve(number, database):
    user = f"user-{number}"
    with Span(*ids(number, 0x10), {"http.route": "/cart", "user.id": user}):
        rows = await asyncio.create_task(query(number, database))
        look_here(f"request {number}")
    look_here("idle")
    return rows


async def main():
    loop = asyncio.get_running_loop()
    loop.set_task_factory(otelctx.task_factory)

    database = asyncio.Queue()
    tasks = [asyncio.create_task(serve(n, database)) for n in WORKERS]
    queries = [await database.get() for _ in WORKERS]
    # Now each task waits inside of two spans, and the loop for this thread.
    await loop.run_in_executor(None, look_here, "idle")
    for number, answer in queries:
        answer.set_result(10 * number)
    for number, rows in zip(WORKERS, await asyncio.gather(*tasks)):
        print(f"worker {number}: {rows} rows")


asyncio.run(main())
