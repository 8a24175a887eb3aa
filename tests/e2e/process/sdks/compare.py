# SPDX-License-Identifier: Apache-2.0
"""Compares the shim and the SDK for Python with a model of both.

The model without differences is the shim; with all of them it is the SDK. Each
difference is an entry in the manual, and needed to explain some value.
"""
import json
import logging
import os
import random
import re
import subprocess
import sys
from urllib.parse import unquote_to_bytes

from opentelemetry.sdk.resources import OTELResourceDetector

shim, read, manual = sys.argv[1:]
generator = random.Random(27)
DIFFERENCES = [
    "a member without '=' or without a key",
    "an escape in a key",
    "a malformed escape in a value",
    "escapes that are not UTF-8",
    "%00",
    "other white space",
    "a key that begins with threadlocal.",
]
MEMBER, KEY, ESCAPE, UTF8, NUL, SPACE, RESERVED = DIFFERENCES
PARTS = ["a", "b", "k1", "service.name", "threadlocal.x", "=", "=", "=", ",", ",", ",", " ",
         "\t", "\r\n", "\v", "\f", "\x1c", "\u00a0", "%2C", "%3d", "%20", "%c3%a9", "%25", "%",
         "%4", "%zz", "%ff", "%00", "+", ";", '"', "\u00e9", "\U0001f600", "\x01"]
EDGES = ["", ",", ",,", "a", "=b", "a=", "a=b=c", "a=1,a=2", " a = b ", "\n  a=b\n", "a=b,,c=d",
         "service.name=", "service.name=x", "a=b,c", "%61=1", "%zz=1", "a=%", "a=%4", "a=%ff",
         "a=%00", "a=\u00a0b", "\u00a0a=b", "a=b\x1c", "threadlocal.x=1,a=b", "a=%20b%20"]


class Malformed(Exception):
    """All of the variable is discarded."""


def decode(text, but):
    if ESCAPE not in but and re.search("%(?![0-9A-Fa-f]{2})", text):
        raise Malformed
    data = unquote_to_bytes(text)
    if NUL not in but and b"\0" in data:
        raise Malformed
    try:
        return data.decode(errors="replace" if UTF8 in but else "strict")
    except UnicodeDecodeError as error:
        raise Malformed from error


def attributes(text, but):
    """The model: what the shim takes from a list, but for these differences."""
    found = {}
    space = None if SPACE in but else " \t\r\n\v\f"
    for member in text.split(","):
        key, equals, value = (part.strip(space) for part in member.partition("="))
        if not key + equals + value:
            continue
        if not key or not equals:
            if MEMBER in but:
                continue
            raise Malformed
        key = key if KEY in but else decode(key, ())
        if key.startswith("threadlocal.") and RESERVED not in but:
            raise Malformed
        found[key] = decode(value, but)
    return found


def model(value, but):
    text, name = value
    try:
        found = attributes(text, but)
    except Malformed:
        found = {}
    if name:
        found["service.name"] = name
    return named(found)


def named(found):
    """Without the name that stands for none, which differs by program."""
    if re.match("(unknown_service.*)?$", found.get("service.name", "")):
        found.pop("service.name", None)
    return found


def environment(value):
    return {"OTEL_RESOURCE_ATTRIBUTES": value[0], "OTEL_SERVICE_NAME": value[1]}


def by_sdk(value):
    os.environ.update(environment(value))
    return named(dict(OTELResourceDetector().detect().attributes))


def by_shim(value):
    """What the shim publishes in cat, which answers when it has started."""
    settings = {"LD_PRELOAD": shim, "OTELCTX_LOG_LEVEL": "none", **environment(value)}
    with subprocess.Popen(["/bin/cat"], env=settings, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as host:
        host.stdin.write(b"\n")
        host.stdin.flush()
        host.stdout.readline()
        seen = json.loads(subprocess.check_output([read, "--json", str(host.pid)]))
        host.stdin.close()
    found = seen["contexts"][0]["resource"]["attributes"]
    return named({each["key"]: each["value"]["stringValue"] for each in found})


def described():
    """The entries of the manual's table."""
    with open(manual, encoding="utf-8") as file:
        section = file.read().partition(".Ss Differences from the SDK for Python\n")[2]
    entries = section.partition(".El\n")[0]
    return [re.sub(r"\\\([oc]q", "'", line[4:]) for line in entries.splitlines()
            if line.startswith(".It ")]


assert described() == DIFFERENCES, described()
logging.disable()
random_values = ["".join(generator.choices(PARTS, k=generator.randrange(1, 12)))
                 for _ in range(700 - 2 * len(EDGES))]
values = [(edge, name) for edge in EDGES for name in ("", "shop %41, ")]
values += [(text, generator.choice(["", "", "x=y"])) for text in random_values]
needed = set()
for value in values:
    ours, theirs = by_shim(value), by_sdk(value)
    assert ours == model(value, ()), ("shim", value, ours, model(value, ()))
    assert theirs == model(value, DIFFERENCES), ("SDK", value, theirs, model(value, DIFFERENCES))
    for each in DIFFERENCES:
        if model(value, [other for other in DIFFERENCES if other != each]) != theirs:
            needed.add(each)
assert needed == set(DIFFERENCES), set(DIFFERENCES) - needed
