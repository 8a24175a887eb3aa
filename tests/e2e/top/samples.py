#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the samples of a recording say, and whether it can be true.

samples.py check FILE     the samples of hosts/busy.c and hosts/rekeyer.c agree with their ids;
                          prints how many there are
samples.py cpu FILE PID   the processor time of that process, in ms
samples.py clock PID      what the kernel says of that, in ms
samples.py seen FILE OWNER [ROUTE]
                          how many samples of hosts/busy.c have a span of "PID:GENERATION", so far
"""
import json
import struct
import sys
import time
from collections import Counter


class Recording:
    """Lines refer to those before them: each sample gets what its numbers mean there."""

    def __init__(self, path, is_whole=True):
        self.processes, self.threads, self.spans = {}, {}, {}
        self.samples, self.gone = [], set()
        self.head = self.end = None
        with open(path, encoding="utf-8") as file:
            for line in file:
                if is_whole or line.endswith("\n"):
                    self.take(json.loads(line))

    def take(self, line):
        kind = next(iter(line))
        if kind == "recording":
            self.head = line
        elif kind == "process":
            self.processes[line["process"]] = line
        elif kind == "thread":
            self.threads[line["thread"]] = line
        elif kind == "span":
            self.spans[line["span"]] = line
        elif kind == "gone":
            self.gone.add(line["gone"])
        elif kind == "end":
            self.end = line
        elif kind == "t" and "thread" in line:
            thread = self.threads[line["thread"]]
            if thread["process"] in self.gone:
                raise ValueError(f"a sample of a process that is gone: {line}")
            self.samples.append(
                {**line, "of": self.processes[thread["process"]], "in": self.spans.get(line.get("span"))}
            )


def is_ours(sample):
    return sample["of"].get("resource", {}).get("service.name") in ("busy", "rekeyer")


def wrong(sample):
    """Why a sample cannot be true, or None. The ids are those of hosts/busy.c."""
    process, span = sample["of"], sample["in"]
    owner = process.get("resource", {}).get("owner")
    if span is None:
        return None if sample.get("none") else "neither a span nor a reason"
    attributes = span.get("attributes", {})
    if process["resource"].get("service.name") == "rekeyer":
        others = [key for key in attributes if not attributes[key].startswith(key + " of ")]
        counts = {value.split(" of ")[1] for value in attributes.values()}
        if others or len(attributes) != 3 or len(counts) != 1:
            return "an attribute under another key"
        return None
    trace = bytes.fromhex(span["trace_id"])
    pid, generation = struct.unpack(">II", trace[:8])
    if bytes(a ^ b for a, b in zip(trace[:8], trace[8:])).hex() != span["span_id"]:
        return "a span of another trace"
    if pid != process["pid"]:
        return "a span of another process"
    if owner != f"{pid}:{generation}":
        return "a span of another generation"
    if attributes.get("owner", owner) != owner:
        return "an owner of another span"
    if attributes.get("http.route", "/").startswith("/r/") and attributes["http.route"] != "/r/" + trace[12:].hex():
        return "a route of another span"
    if set(attributes) - {"http.route", "owner"}:
        return "an attribute that nobody set"
    return None


def check(path):
    recording = Recording(path)
    faults = Counter()
    ours = [sample for sample in recording.samples if is_ours(sample)]
    for sample in ours:
        why = wrong(sample)
        if why and faults[why] == 0:
            print(f"{why}: {sample}")
        if why:
            faults[why] += 1
    if not recording.head or not recording.end:
        faults["no first or no last line"] += 1
    spans = sum(sample["in"] is not None for sample in ours)
    routes = sum(bool(sample["in"] and sample["in"].get("attributes")) for sample in ours)
    print(f"{len(ours)} samples, {spans} with a span, {routes} with attributes")
    if faults:
        print(dict(faults))
    return 1 if faults else 0


def seen(path, owner, route=None):
    count = 0
    for sample in Recording(path, is_whole=False).samples:
        attributes = (sample["in"] or {}).get("attributes", {})
        if sample["of"].get("resource", {}).get("owner") == owner and sample["in"]:
            count += route is None or attributes.get("http.route") == route
    return count


def main():
    what, *rest = sys.argv[1:]
    if what == "check":
        return check(rest[0])
    if what == "clock":
        # clock_getcpuclockid(3): of a process, by the scheduler.
        print(time.clock_gettime_ns((~int(rest[0]) << 3) | 2) // 1000000)
    elif what == "cpu":
        print(sum(s["cpu"] for s in Recording(rest[0]).samples if s["of"]["pid"] == int(rest[1])) // 1000000)
    elif what == "seen":
        print(seen(*rest))
    return 0


sys.exit(main())
