# SPDX-License-Identifier: Apache-2.0
"""Forked processes, threads and a command, each at work."""
import concurrent.futures
import hashlib
import multiprocessing
import subprocess
import threading


def digest(number):
    return hashlib.sha256(b"%d" % number * 1000).hexdigest()


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3, maxtasksperchild=5) as pool:
        digests = pool.map(digest, range(40), chunksize=1)
    print(*digests, sep="\n")  # now that no worker can be forked with the text
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        print(*threads.map(digest, range(40)), sep="\n")
    print(subprocess.check_output(["sort", "-r", "words"], text=True))
    print(threading.active_count())
