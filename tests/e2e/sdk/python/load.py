# SPDX-License-Identifier: Apache-2.0
"""Usage: load.py PORT AT_ONCE PID PATH...: sends requests until process PID has ended,
each in a trace of its own. Prints what the handlers answer: their ids."""

import http.client
import itertools
import os
import sys
import threading

port, at_once, pid = map(int, sys.argv[1:4])
paths = sys.argv[4:]
numbers = itertools.count(1)
failures = []


def is_running():
    return os.path.exists(f"/proc/{pid}")


def requests():
    client = None
    try:
        while True:
            number = next(numbers)
            client = client or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            trace_id = f"{number:032x}"
            headers = {"traceparent": f"00-{trace_id}-{number:016x}-01"}
            client.request("GET", f"{paths[number % len(paths)]}/{number}", headers=headers)
            response = client.getresponse()
            answer = response.read().decode()
            assert response.status == 200 and answer.startswith(trace_id), answer
            sys.stdout.write(answer + "\n")  # one write: threads share it
            if response.will_close:
                client.close()
                client = None
            if not is_running():
                return
    except Exception as error:
        failures.append(repr(error))


threads = [threading.Thread(target=requests) for _ in range(at_once)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("\n".join(failures[:10]) or None)
