#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The benchmark runs, prints each of its rows, and compares its figures with its
# limits. This does not test the figures, except those that no noise changes.
build=$OTELCTX_BUILD
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
cd "$TMP"

# run OPTION...: one round of the benchmark; prints its output and exit status.
run() {
    local status=0

    "$ROOT/tests/bench/run" --build "$build" --rounds 1 "$@" || status=$?
    echo "status $status"
}
run --json >all.json
grep -v ^status all.json | jq .rows >rows.json
targets=(1.3 2.4 3.6)
! grep -q 'model name.*AMD' /proc/cpuinfo || targets=(0.95 1.7 2.7)
same 'every row that has a target is printed, with its target' \
    "a thread stands still, to be read: 1.3
attach + detach: 0.7
attach with 1 attribute + detach: ${targets[0]}
attach with 4 attributes + detach: ${targets[1]}
find a context among 100,000 mappings: 0.5
find those of 2,000 processes: 1.1
first publication: 1.1
fork, child and end: 1.05
more private dirty pages: 4
more system calls at start: 12
otelctx-run true: 1.15
profiler: attach + detach: 1.8
ring: attach + detach: 2
ring: get by thread id: 0.6
ring: get: 0.6
start of true, disabled: 1.02
start of true, excluded: 1.02
start of true, publishing: 1.05
start of true, publishing: 1.12
start of true, silent: 1.02
swap there and back: 0.75
the file, stripped: 58368
the same, 4 attributes: ${targets[2]}
update: 1.3" "$(jq -r '.[] | select(.target) | "\(.row): \(.target)"' rows.json |
    sort)"
run --json configure >configure.json
same 'so are those of a configure script, if they are asked for' \
    './configure of GNU which: 1.03
a hundred times sh -c true: 1.03' "$(grep -v ^status configure.json |
        jq -r '.rows[] | select(.target) | "\(.row): \(.target)"' | sort)"
same 'the rows of the reader are printed' \
    'a thread stands still, to be read
find a context among 100,000 mappings
find those of 2,000 processes' \
    "$(jq -r '.[].row | select(test("find|stands"))' rows.json | sort)"
same 'each row has a measurement, and a ratio if it has a floor' true \
    "$(jq 'all(.[]; .value > 0 and (.floor == null) == (.ratio == null))' rows.json)"
same 'after a few rounds it is too noisy to say whether a target is reached' \
    'too noisy to say' "$(jq -r '.[] | select(.floor and .target and .error == null).verdict' \
    rows.json | sort -u)"
same 'a row that misses makes the exit status 1' \
    "status $(jq 'if any(.[]; .verdict == "MISSED") then 1 else 0 end' rows.json)" \
    "$(tail -n 1 all.json)"
same 'system calls, dirty pages and the size of the file are within their targets' \
    'holds' "$(jq -r '.[] | select(.floor == null).verdict' rows.json | sort -u)"
same 'without --json the output is a table' \
    '| the file, stripped |  |  |  |  |  | 58,368 | holds |
status 0' "$(run footprint | sed -n 's/ [0-9,]* bytes |//; /stripped\|status/p')"
run --compare "$build" threads process start fork >compared
same 'a build is compared with itself in the same rounds' \
    'attach + detach
attach with 1 attribute + detach
attach with 4 attributes + detach
first publication
fork, child and end
start of true, publishing
update' "$(sed -n '/| compared |/,$ s/^| \([^|]*\) |.*/\1/p' compared |
    grep -E '^(attach|first|fork|start|update$)' | sort)"

# figures.py, with rounds that are made up.
cat >made_up.py <<'EOF'
import random

import figures

random.seed(4947)


def rounds(ratio, busy, additions=4.0, spread=0.01):
    """A floor of 100 ns. In busy rounds it takes 2 times as long, ours 3 times."""
    found = figures.Rounds({})
    for _ in range(1000):
        is_busy = random.random() < busy

        def block(ns, times):
            return ns * (times if is_busy else 1) * random.uniform(1, 1 + spread)

        found["tell", "before"].append(block(100, 2))
        found["row", "floor"].append(block(100, 2))
        found["row", "ours"].append(block(100 * ratio, 3))
        found["tell", "after"].append(block(100, 2))
        found["additions a cycle", "core"].append(additions)
    return found


def verdict(rounds, target):
    row = figures.row("row", "ns", rounds, ("row", "floor"), ("row", "ours"), target)
    return f"{row['ratio']:.1f} {row['verdict']}"


print("quiet:", verdict(rounds(1.0, 0), 1.1), "and", verdict(rounds(1.2, 0), 1.1))
print("busy nine times in ten:", verdict(rounds(1.0, 0.85), 1.1))
print("always busy:", verdict(rounds(1.0, 1, additions=2.0), 1.1))
print("the same, above half as much again:", verdict(rounds(1.2, 1, additions=2.0), 1.1))
print("somebody comes and goes:", verdict(rounds(1.0, 1, additions=3.0), 1.1))
print("at the limit:", verdict(rounds(1.1, 0, spread=0.1), 1.1))
found = rounds(1.0, 0.5)
for name, part in ("10 % less", 0.9), ("the same", 1.0):
    theirs = found["row", "ours"]
    ours = [part * ns * random.uniform(1, 1.01) / 1.005 for ns in theirs]
    print(f"{name}: {figures.difference('row', ours, theirs, found.tells)['verdict']}")
EOF
same 'figures are those of quiet rounds, and no verdict is given without them' \
    'quiet: 1.0 holds and 1.2 MISSED
busy nine times in ten: 1.0 holds
always busy: 1.5 holds beside a busy hyperthread
the same, above half as much again: 1.8 MISSED
somebody comes and goes: 1.5 too noisy to say
at the limit: 1.1 too noisy to say
10 % less: faster
the same: no difference beyond the noise' \
    "$(PYTHONPATH=$ROOT/tests/bench PYTHONDONTWRITEBYTECODE=1 python3 made_up.py)"

done_testing
