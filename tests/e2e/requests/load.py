# SPDX-License-Identifier: Apache-2.0
"""Usage: load.py PROTOCOL HOST PORT CONNECTIONS: requests of random traces until it
is killed; one line "ready" after the first answer on each connection. If the server
shows routes, one request in eight has no trace, and its ids are zero; see truth.py.

It speaks the protocols by itself, so that each byte is what the test means."""

import os
import random
import socket
import struct
import sys
import threading

routed = "OTELCTX_REQUEST_ATTRIBUTES" in os.environ
protocol, host, port, count = sys.argv[1:]


def connect():
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def trace():
    """The ids, and the text; "" where the request has no trace."""
    if routed and random.random() < 0.125:
        return "0" * 48, ""
    ids = os.urandom(24).hex()
    return ids, f"00-{ids[:32]}-{ids[32:]}-01"


def pieces(sock, data):
    """Send in one piece, or in several."""
    cut = random.randrange(len(data)) if random.random() < 0.3 else 0
    for part in (data[:cut], data[cut:]):
        if part:
            sock.sendall(part)


def http(path):
    while True:
        sock = connect()
        file = sock.makefile("rb")
        for _ in range(random.randrange(1, 20)):
            ids, text = trace()
            header = f"TraceParent: {text}\r\n" if text else ""
            birds = random.choice(("", "birds/7/")) if routed else ""
            body = b"x" * random.choice((0, 10, 20000))
            pieces(
                sock,
                f"{'POST' if body else 'GET'} {path}{birds}{ids} HTTP/1.1\r\nHost: a\r\n"
                f"Cookie: {'c' * random.randrange(2000)}\r\n{header}"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body,
            )
            size, closes = None, False
            status = file.readline()
            if b" 200 " not in status:
                sys.exit(f"load: {status}")
            while (line := file.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
                closes |= line.lower().startswith(b"connection: close")
            if size is None:
                while (chunk := int(file.readline(), 16)) > 0:
                    file.read(chunk + 2)
                file.readline()
            else:
                file.read(size)
            yield
            if closes:
                break
        sock.close()


def postgresql():
    def message(kind, body):
        return kind + struct.pack(">I", len(body) + 4) + body

    def answers():
        while True:
            kind, size = struct.unpack(">cI", file.read(5))
            body = file.read(size - 4)
            if kind == b"E":
                sys.exit(f"load: {body}")
            if kind == b"Z":
                return

    sock = connect()
    file = sock.makefile("rb")
    start = b"\0\3\0\0user\0bird\0database\0postgres\0\0"
    sock.sendall(struct.pack(">I", len(start) + 4) + start)
    answers()
    while True:
        ids, text = trace()
        route = random.choice(("a", "birds"))
        comment = f"route='%2F{route}'" + (f",traceparent='{text}'" if text else "")
        statement = f"select work('{ids}', '/{route}') /*{comment}*/".encode()
        if random.random() < 0.5:
            pieces(sock, message(b"Q", statement + b"\0"))
        else:
            pieces(
                sock,
                message(b"P", b"\0begin\0\0\0")
                + message(b"B", b"\0\0\0\0\0\0\0\0")
                + message(b"E", b"\0\0\0\0\0")
                + message(b"P", b"\0" + statement + b"\0\0\0")
                + message(b"B", b"\0\0\0\0\0\0\0\0")
                + message(b"E", b"\0\0\0\0\0")
                + message(b"S", b""),
            )
        answers()
        if random.random() < 0.5:
            sock.sendall(message(b"Q", b"rollback\0"))
            answers()
        yield


def mysql():
    def packet():
        size, number = struct.unpack("<IB", file.read(3) + b"\0" + file.read(1))
        return number, file.read(size)

    def answer():
        body = packet()[1]
        if body[0] == 0xFF:
            sys.exit(f"load: {body}")
        ends = 0 if body[0] == 0 else 2
        while ends:
            body = packet()[1]
            ends -= body[0] == 0xFE and len(body) < 9

    def send(number, body):
        pieces(sock, struct.pack("<I", len(body))[:3] + bytes([number]) + body)

    sock = connect()
    file = sock.makefile("rb")
    packet()
    send(1, struct.pack("<IIB23x", 0x8200, 1 << 24, 33) + b"bird\0\0")
    answer()
    while True:
        ids, text = trace()
        padding = "x" * random.choice((0, 0, 5000))
        send(0, f"\3select works('{ids}'), '{padding}' /*traceparent='{text}'*/".encode())
        answer()
        yield


def client():
    runs = {"postgresql": postgresql, "mysql": mysql}
    run = runs[protocol]() if protocol in runs else http(protocol)
    next(run)
    print("ready", flush=True)
    for _ in run:
        pass


for _ in range(int(count)):
    threading.Thread(target=client).start()
