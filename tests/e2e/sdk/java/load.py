# SPDX-License-Identifier: Apache-2.0
"""load.py PORT THREADS: asks the server of Server.java, each time in another trace, until its input ends."""
import http.client
import sys
import threading

PATHS = ("/cart/1", "/order/7/item", "/about")
done = threading.Event()


def ask(client):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=120)
    number = 0
    while not done.is_set():
        number += 1
        trace = f"{0x4bf92f35 << 96 | client << 32 | number:032x}"
        connection.request("GET", PATHS[number % 3], headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        answer = connection.getresponse().read().decode().strip()
        if answer != trace:
            print(f"asked in trace {trace}, served in {answer}")


threads = [threading.Thread(target=ask, args=(client,)) for client in range(1, int(sys.argv[2]) + 1)]
for thread in threads:
    thread.start()
sys.stdin.read()
done.set()
for thread in threads:
    thread.join()
