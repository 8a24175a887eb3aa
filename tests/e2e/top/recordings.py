#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: recordings.py shop|minute|known|hostile

Prints a recording in the format of otelctx-recording(5), the same one each time:
shop     three services that handle the same requests for some seconds
minute   50 threads at 99 Hz, for a minute, with a new span each 20 ms
known    a small one, all of whose boxes tests know
hostile  a small one with names and attributes that attack the page
"""
import json
import random
import sys

PERIOD = 1_000_000_000 // 99


class Recording:
    """Gives the numbers, and introduces what a sample needs before the sample."""

    def __init__(self, seed, **head):
        self.random = random.Random(seed)
        self.numbers = {}
        self.samples = []
        self.put({"recording": 1, "by": "recordings.py", "host": "build-7", "start_ns": "1763872345678901234",
                  "hz": 99, "wall": False, "cpus": 8, **head})

    @staticmethod
    def put(line):
        print(json.dumps(line, separators=(",", ":"), ensure_ascii=False))

    def number(self, kind, key, line):
        known = self.numbers.setdefault(kind, {})
        if key not in known:
            known[key] = len(known) + 1
            self.put({kind: known[key], **line})
        return known[key]

    def process(self, pid, service, command, **more):
        resource = {"service.name": service, **more} if service else more
        return self.number("process", (pid, command), {
            "pid": pid, "command": command, "comm": command.split()[0], "context": "ok", "resource": resource})

    def thread(self, process, tid, comm):
        return self.number("thread", tid, {"process": process, "tid": tid, "comm": comm})

    def span(self, trace, span, attributes):
        return self.number("span", (trace, span), {
            "trace_id": trace, "span_id": span, "flags": 1, "attributes": attributes})

    def ids(self):
        return f"{self.random.getrandbits(128):032x}", f"{self.random.getrandbits(64):016x}"

    def run(self, thread, start, end, context, state="R", busy=1.0):
        """The samples of a thread that runs from start to end."""
        t = start + PERIOD
        while t <= end:
            wall = PERIOD + self.random.randrange(-150_000, 150_000)
            self.samples.append((t, thread, context, state, int(wall * busy), wall))
            t += PERIOD

    def finish(self, end):
        for t, thread, context, state, cpu, wall in sorted(self.samples, key=lambda sample: sample[:2]):
            line = {"t": t, "thread": thread}
            if isinstance(context, str):
                line["none"] = context
            else:
                line["span"] = self.span(*context)
            self.put({**line, "state": state, "cpu": cpu, "wall": wall})
        self.put({"end": end, "stops": 3 * len(self.samples), "stopped_ns": 9000 * len(self.samples),
                  "longest_ns": 41000})


def shop():
    ms = 1_000_000
    end = 2000 * ms
    recording = Recording(8)
    pick = recording.random
    web = recording.process(4711, "shop", "python3 -m gunicorn shop:app", **{
        "service.version": "2.4.1", "service.instance.id": "3f1c0a52", "deployment.environment.name": "demo"})
    cart = recording.process(4730, "cart", "java -jar cart.jar", **{
        "service.version": "1.9.0", "service.instance.id": "b7d02e11", "telemetry.sdk.language": "java"})
    pay = recording.process(4755, "payment", "node payment.js", **{
        "service.version": "0.8.3", "service.instance.id": "90aa4c7d", "telemetry.sdk.language": "nodejs"})
    web_threads = [recording.thread(web, 4712 + i, f"worker-{i + 1}") for i in range(4)]
    cart_threads = [recording.thread(cart, 4733 + i, f"http-exec-{i + 1}") for i in range(3)]
    collector = recording.thread(cart, 4740, "GC Thread#0")
    pay_threads = [recording.thread(pay, 4755, "node"), recording.thread(pay, 4758, "libuv-worker")]
    free = {thread: 0 for thread in web_threads + cart_threads + pay_threads}

    def work(threads, at, length, trace, attributes):
        thread = min(threads, key=lambda one: free[one])
        start = max(at, free[thread])
        recording.run(thread, start, start + length, (trace, recording.ids()[1], attributes))
        free[thread] = start + length + 12 * ms
        return start + length

    now = 20 * ms
    while now < end - 560 * ms:
        trace = recording.ids()[0]
        route = pick.choice(["/cart", "/cart", "/checkout", "/search", "/item/{id}"])
        thread = min(web_threads, key=lambda one: free[one])
        start = max(now, free[thread])
        context = (trace, recording.ids()[1], {"http.route": route, "http.request.method": "GET"})
        at = start + pick.randrange(60, 150) * ms
        recording.run(thread, start, at, context)
        if route in ("/cart", "/checkout"):
            at = work(cart_threads, at, pick.randrange(80, 190) * ms, trace, {"http.route": "/items"})
        if route == "/checkout":
            at = work(pay_threads, at, pick.randrange(110, 240) * ms, trace, {"http.route": "/charge"})
        if route != "/search":
            last = at + pick.randrange(50, 110) * ms
            recording.run(thread, at, last, context)
            at = last
        free[thread] = at + 12 * ms
        now += pick.randrange(30, 70) * ms
    for start in range(260, 1900, 430):
        recording.run(collector, start * ms, (start + pick.randrange(60, 160)) * ms, "detached")
    recording.finish(max(sample[0] for sample in recording.samples) + PERIOD)


def minute():
    end = 60_000_000_000
    recording = Recording(3)
    processes = [recording.process(1000 + 100 * i, f"service-{i}", f"/usr/bin/service-{i} --port {8000 + i}",
                                   **{"service.instance.id": f"{i:032x}"}) for i in range(5)]
    threads = [recording.thread(processes[i % 5], 1000 + 100 * (i % 5) + i, f"worker-{i}") for i in range(50)]
    traces = []
    for step in range(3000):
        # A request is handled by three services.
        traces = [recording.ids()[0] for _ in range(17)]
        for i, thread in enumerate(threads):
            context = (traces[i // 3], recording.ids()[1], {"http.route": f"/route/{recording.random.randrange(40)}"})
            for half in (1, 2):
                t = (2 * step + half) * end // 6000 - recording.random.randrange(0, 200_000)
                if 2 * step + half <= 5940:
                    recording.samples.append((t, thread, context, "R", PERIOD - recording.random.randrange(90_000),
                                              PERIOD))
    recording.finish(end)


def known():
    recording = Recording(4)
    other = recording.process(50, "", "sh")
    recording.samples.append((700_000_000, recording.thread(other, 50, "sh"), "no_process_context", "R", 10_000_000,
                              10_000_000))
    first = recording.process(100, "shop", "python3 app.py", **{"service.instance.id": "one"})
    second = recording.process(200, "cart", "./cart", **{"service.instance.id": "two"})
    one, two, three = (recording.thread(first, 100, "main"), recording.thread(first, 101, "worker"),
                       recording.thread(second, 200, "cart"))
    cart = "1" * 32, "a" * 16, {"http.route": "/cart"}
    items = "1" * 32, "b" * 16, {"http.route": "/items"}
    other = "2" * 32, "c" * 16, {}
    ms = 1_000_000

    def samples(thread, times, context, state="R"):
        for t in times:
            recording.samples.append((t * ms, thread, context, state, 10 * ms if state == "R" else 0, 10 * ms))

    samples(one, range(110, 201, 10), cart)             # 100 to 200
    samples(one, range(230, 251, 10), cart)             # 20 ms later: the same stretch
    samples(one, range(310, 401, 10), cart)             # 50 ms later: another
    samples(two, range(210, 301, 10), "detached")
    samples(two, range(310, 401, 10), other)
    samples(two, range(410, 431, 10), other, "D")       # the same stretch
    samples(three, range(510, 601, 10), items)
    samples(three, range(910, 1001, 10), "untouched")
    recording.finish(1000 * ms)


def hostile():
    recording = Recording(5, host="</title><script>attack()</script>")
    attacks = ["</script><img src=x onerror=attack()>", "<!--", "\"'><svg onload=attack()>", "]]>", "&lt;b&gt;",
               "\u202etxt.exe", "a\u2028b\x00\x1b[31m", "{{data}}", "${attack()}", "<script>attack()</script>"]
    for i, attack in enumerate(attacks):
        process = recording.process(10 + i, attack, attack, **{attack: attack, "list": [attack, {"a": attack}]})
        thread = recording.thread(process, 10 + i, attack)
        trace, span = recording.ids()
        recording.run(thread, i * 50_000_000, i * 50_000_000 + 400_000_000, (trace, span, {attack: attack}))
        recording.run(thread, 900_000_000, 960_000_000, attack)
    recording.finish(1_000_000_000)


{"shop": shop, "minute": minute, "known": known, "hostile": hostile}[sys.argv[1]]()
