#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: load.py PORT FILE

Requests /work/N of a server, twenty at once, each with a trace of its own, until
FILE is gone. Then looks at what the server's exporter has, and prints one line:

    requests N missing N

missing  spans that a handler has answered with and the exporter has not, or has
         with another parent
"""

import http.client
import os
import secrets
import sys
import threading
import time

PORT, FILE = int(sys.argv[1]), sys.argv[2]
expected = []  # trace, span, flags, parent


def request(connection, number):
    trace, parent = secrets.token_hex(16), secrets.token_hex(8)
    headers = {"traceparent": f"00-{trace}-{parent}-01"}
    connection.request("GET", f"/work/{number}", headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    assert answer.status == 200, (answer.status, body)
    _, span, *_, part, flags = body.split()
    expected.append(f"{trace} {span} {flags} {parent}")
    expected.append(f"{trace} {part} {flags} {span}")


def client():
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    number = 0
    while os.path.exists(FILE):
        request(connection, number)
        number += 1


def exported():
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    connection.request("GET", "/spans")
    return set(connection.getresponse().read().decode().splitlines())


def main():
    threads = [threading.Thread(target=client) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A span ends after its response: wait for the last ones.
    for _ in range(1000):
        missing = set(expected) - exported()
        if not missing:
            break
        time.sleep(0.02)
    print(f"requests {len(expected) // 2} missing {len(missing)}")


main()
