# SPDX-License-Identifier: Apache-2.0
"""FastAPI: tasks that share a thread, and functions in threads of a pool."""

import asyncio
import time

import fastapi
import truth
from fastapi.responses import PlainTextResponse

app = fastapi.FastAPI()
truth.export()


@app.get("/cart/{number}", response_class=PlainTextResponse)
async def cart(number: str):
    answer = None
    for wait, answer in enumerate(truth.stretches("/cart/{number}")):
        if wait % 2:
            await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.0005)
        else:
            await asyncio.gather(asyncio.sleep(0.0005), asyncio.sleep(0))
    return answer


@app.get("/pool/{number}", response_class=PlainTextResponse)
def pool(number: str):
    answer = None
    for answer in truth.stretches("/pool/{number}"):
        time.sleep(0.0005)
    return answer
