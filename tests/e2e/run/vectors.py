# SPDX-License-Identifier: Apache-2.0
"""Ten thousand environments and argument vectors arrive as they were sent."""
import os
import random
import sys

run, shim, show = sys.argv[1:]
generator = random.Random(15)
LETTERS = b"aZ09_=%,;:'\"\\ \t\n\xff\xc3\xa9$*"


def word():
    size = generator.randrange(12)
    return bytes(generator.choice(LETTERS) for _ in range(size))


def name():
    return b"N" + word().replace(b"=", b"")


for _ in range(10000):
    environment = {name(): word() for _ in range(generator.randrange(8))}
    arguments = [word() for _ in range(generator.randrange(6))]
    command = [os.fsencode(show)] + arguments
    pipe, output = os.pipe()
    child = os.posix_spawn(
        run, [b"run", b"--library", os.fsencode(shim), b"--"] + command, environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, output, 1)])
    os.close(output)
    with os.fdopen(pipe, "rb") as out:
        got = out.read()
    os.waitpid(child, 0)
    want = command + [b"--"] + [k + b"=" + v for k, v in environment.items()]
    want.append(b"LD_PRELOAD=" + os.fsencode(shim))
    assert got == b"\0".join(want) + b"\0", (got, want)
