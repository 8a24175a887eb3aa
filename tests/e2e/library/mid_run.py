# SPDX-License-Identifier: Apache-2.0
"""Usage: mid_run.py recycled_pids|setresuid

A program with the shim. Prints how many of its children, and then whether it
itself, lack what they should have: one process context, and the thread context
that the thread attached. recycled_pids needs a pid namespace of its own.
"""
import ctypes
import os
import sys

shim = ctypes.CDLL(None)
SPAN = b"12345678"
IDS_SIZE = 32


def contexts():
    with open("/proc/self/maps") as maps:
        return sum("OTEL_CTX" in line for line in maps)


def serves(number):
    trace = bytes([number % 250 + 1]) * 16
    found = ctypes.create_string_buffer(IDS_SIZE)

    return (
        shim.otelctx_process_set(b"number", b"%d" % number) == 0
        and shim.otelctx_process_publish() == 0
        and contexts() == 1
        and shim.otelctx_attach(trace, SPAN, 1) == 0
        and shim.otelctx_get_by_tid(os.getpid(), found) == 0
        and found.raw[:16] == trace
    )


def in_child(function, *arguments):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if function(*arguments) else 1)
    return os.waitpid(pid, 0)[1] == 0


def next_pid(pid):
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(pid - 1))


def child_with_child(number):
    own = contexts() == 1 and serves(number)
    next_pid(301)
    return in_child(lambda: contexts() == 1 and serves(number + 1)) and own


def recycled_pids():
    for number in range(300):
        serves(number)
        next_pid(300)
        yield in_child(child_with_child, number + 1)


def setresuid():
    for saved in 0, 65534:
        os.setresuid(65534, 65534, saved)
        yield serves(saved) and in_child(serves, 1)


print([done for done in globals()[sys.argv[1]]()].count(False), serves(7))
