# SPDX-License-Identifier: Apache-2.0
"""Usage: watch.py READER PID

Reads every process of the tree below PID, over and over, until the tree is gone
or standard input ends. Prints how many processes were seen with a context, and
a line about each that had none when it must, whose instance id changed, or whose
id another one has.
"""

import collections
import json
import os
import pathlib
import select
import subprocess
import sys

# Seconds. A context is there when fork() returns, but on a busy machine a new
# process may not have run yet. A process that sleeps has run.
GROWN_UP = 1.0

ids = {}  # of each process
missing = collections.Counter()  # how often in a row
flaws = []


def stat(pid):
    """State, and start time: two processes with the same pid differ in it."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None, None
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])


def children(task):
    """None of a thread that has ended meanwhile."""
    try:
        return (task / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def tree(pid):
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        tasks = []
    below = [tree(int(child)) for task in tasks for child in children(task)]
    return sum(below, [pid])


def age(start):
    up = float(pathlib.Path("/proc/uptime").read_text().split()[0])
    return up - start / os.sysconf("SC_CLK_TCK")


def instance_id(context):
    for attribute in context["resource"]["attributes"]:
        if attribute["key"] == "service.instance.id":
            return attribute["value"]["stringValue"]
    return None


def judge(process, state_before, report):
    pid, start = process
    if report["status"] == "ok":
        missing[process] = 0
        now = instance_id(report["contexts"][0])
        if ids.setdefault(process, now) != now:
            flaws.append(f"{pid}: the id changed from {ids[process]} to {now}")
        return
    state, same_start = stat(pid)
    if same_start != start or state in "ZX" or report["status"] == "no_process":
        return
    if state_before + state != "SS" and age(start) < GROWN_UP:
        return
    missing[process] += 1
    if missing[process] == 2:
        flaws.append(f"{pid}: {report['status']} at {age(start):.2f} s")


def look(reader, root):
    states = {pid: stat(pid) for pid in tree(root)}
    run = subprocess.run(
        [reader, "--json", *map(str, states)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for line in run.stdout.splitlines():
        report = json.loads(line)
        pid = report["pid"]
        state, start = states[pid]
        # Another process may have got the pid before the reader read it.
        if start and start == stat(pid)[1]:
            judge((pid, start), state, report)


reader, root = sys.argv[1], int(sys.argv[2])
while stat(root)[0] not in (None, "Z") and not select.select([0], [], [], 0.005)[0]:
    look(reader, root)

owners = collections.defaultdict(list)
for (pid, _), value in ids.items():
    owners[value].append(pid)
for value, pids in owners.items():
    if len(pids) > 1:
        flaws.append(f"{pids} share the id {value}")
print(len(ids), "processes")
print(*flaws, sep="\n", end="\n" if flaws else "")
sys.exit(bool(flaws))
