# SPDX-License-Identifier: Apache-2.0
"""Usage: pool.py REQUESTS

Answers that many, by processes that are replaced after every tenth.
"""

import hashlib
import multiprocessing
import os
import sys


def answer(request):
    return os.getpid(), hashlib.sha256(b"%d" % request).hexdigest()


if __name__ == "__main__":
    requests = range(int(sys.argv[1]))
    with multiprocessing.get_context("fork").Pool(4, maxtasksperchild=10) as pool:
        answers = pool.map(answer, requests, chunksize=1)
    right = sum(text == answer(i)[1] for i, (_, text) in zip(requests, answers))
    processes = len({pid for pid, _ in answers})
    enough = len(requests) // 10
    if processes >= enough:
        processes = f"{enough} processes or more"
    print(right, "answers,", processes)
