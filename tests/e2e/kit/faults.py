# SPDX-License-Identifier: Apache-2.0
"""Usage: faults.py ROOT FOLDER JUDGE

Builds otelctx-read with each fault of faults.txt, and judges it in the
scenarios that the fault names. Prints a line each: "found", or what happened
instead ("unstaged": this machine cannot stage the scenarios), then the fault.
FOLDER is for what is built.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

TRIES = 100  # a fault that shows only now and then is found in one of a few

root, folder, judge = sys.argv[1:]
reader = f"{root}/demo/reader"
COMPILE = ["gcc", "-std=gnu11", "-O0", "-w", "-D_GNU_SOURCE", "-pthread"]
COMPILE += ['-DOTELCTX_VERSION="0"', f"-I{root}"]
FOLDERS = "config", "demo/base", "demo/reader/*", "demo/run/doctor"
sources = [
    os.path.relpath(source, reader)
    for folder_of_sources in FOLDERS
    for source in glob.glob(f"{root}/{folder_of_sources}/*.c")
]


def faults():
    """(class, file, scenarios, old, new, line)"""
    kind = None
    with open(f"{root}/tests/e2e/kit/faults.txt", encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.startswith(("- ", "+ ")):
                (old if line[0] == "-" else new).append(line[2:].rstrip("\n"))
            elif line.strip() and line[0] != "#":
                kind, file, *scenarios = line.split()
                old, new, at = [], [], number
            elif kind and not line.strip():
                yield kind, file, scenarios, "\n".join(old), "\n".join(new), at
                kind = None
    if kind:
        yield kind, file, scenarios, "\n".join(old), "\n".join(new), at


def object_of(source):
    return f"{folder}/{source.replace('/', '_')}.o"


def compile_source(source):
    command = [*COMPILE, "-c", f"{reader}/{source}", "-o", object_of(source)]
    subprocess.run(command, check=True)


def seed(fault):
    kind, file, scenarios, old, new, at = fault
    name = f"faults.txt:{at}: {kind}, in {file}, by {' '.join(scenarios)}"
    with open(f"{reader}/{file}", encoding="utf-8") as original:
        text = original.read()
    if text.count(old) != 1:
        return f"absent {name}"
    base = f"{folder}/fault{at}"
    # Beside the headers that it names, by the include path.
    with open(f"{base}.c", "w", encoding="utf-8") as seeded:
        seeded.write(text.replace(old, new))
    if subprocess.run([*COMPILE, "-c", f"{base}.c", "-o", f"{base}.o"]).returncode:
        return f"uncompiled {name}"
    objects = [object_of(s) for s in sources if s != file]
    subprocess.run(["gcc", "-pthread", f"{base}.o", *objects, "-o", base], check=True)
    command = [judge, "--json", "--jobs", "1", "--timeout", "20000"]
    command += ["--adapter", f"{root}/tests/e2e/kit/readers/otlp.jq"]
    for scenario in scenarios:
        command += ["--only", scenario]
    command += ["--", base, "--json", "--threads", "{}"]
    for _ in range(TRIES):
        judged = subprocess.run(command, capture_output=True, text=True)
        if re.search('"verdict":"(wrong|refused|crashed|hung|memory)"', judged.stdout):
            break
        if judged.stdout and judged.stdout.count("not staged") == len(scenarios):
            return f"unstaged {name}"
    else:
        return f"missed {name}"
    for extra in "", ".c", ".o":
        os.unlink(base + extra)
    return f"found {name}"


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(compile_source, sources))
    for line in pool.map(seed, faults()):
        print(line, flush=True)
