# SPDX-License-Identifier: Apache-2.0
"""A shop of three services, and its customers, to look at with otelctx-top.

    shop.py cart | payment            prints the port where it serves
    shop.py shop CART_PORT PAYMENT_PORT
    shop.py customers SHOP_PORT       ask the shop for pages, until they are ended

Each request is a span of the trace that its traceparent header names.
"""

import concurrent.futures
import http.client
import http.server
import itertools
import os
import random
import socketserver
import sys
import threading
import time

from otelctx import Span

# service: {route: (milliseconds of processor time, what it asks of whom)}
ROUTES = {
    "shop": {
        "/cart": (4, [("cart", "/items")]),
        "/checkout": (6, [("cart", "/items"), ("payment", "/charge")]),
        "/search": (14, []),
    },
    "cart": {"/items": (8, [])},
    "payment": {"/charge": (12, [])},
}
CUSTOMERS = 3


def work(milliseconds):
    until = time.thread_time() + milliseconds / 1000
    while time.thread_time() < until:
        sum(range(1000))


def get(port, route, trace_id):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    traceparent = f"00-{trace_id.hex()}-{os.urandom(8).hex()}-01"
    connection.request("GET", route, headers={"traceparent": traceparent})
    connection.getresponse().read()
    connection.close()


class Service(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Serves with the same four threads all the time."""

    def __init__(self, name, neighbours):
        super().__init__(("127.0.0.1", 0), Handler)
        self.routes, self.neighbours = ROUTES[name], neighbours
        self.pool = concurrent.futures.ThreadPoolExecutor(4)

    def process_request(self, request, client_address):
        self.pool.submit(self.process_request_thread, request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        milliseconds, asks = self.server.routes[self.path]
        trace_id = bytes.fromhex(self.headers["traceparent"].split("-")[1])
        with Span(trace_id, os.urandom(8), {"http.route": self.path}):
            work(milliseconds)
            for name, route in asks:
                get(self.server.neighbours[name], route, trace_id)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def visit(port):
    for route in itertools.cycle(ROUTES["shop"]):
        get(port, route, os.urandom(16))
        time.sleep(random.uniform(0, 0.05))


def main():
    role, *ports = sys.argv[1:]
    if role == "customers":
        for _ in range(CUSTOMERS):
            threading.Thread(target=visit, args=ports).start()
        return
    service = Service(role, dict(zip(["cart", "payment"], ports)))
    print(service.server_port, flush=True)
    service.serve_forever()


main()
