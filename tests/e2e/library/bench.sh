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
grep -v ^status all.json >rows.json
same 'every row that has a target is printed, with its target' \
    'attach + detach: 0.85
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
swap there and back: 0.85
the file, stripped: 57344
the same, 4 attributes: 3
update: 1.4' "$(jq -r '.[] | select(.target) | "\(.row): \(.target)"' rows.json |
    sort)"
same 'the rows of the reader are printed' \
    'a thread stands still, to be read
find a context among 100,000 mappings
find those of 2,000 processes' \
    "$(jq -r '.[].row | select(test("find|stands"))' rows.json | sort)"
same 'each row has a measurement and a ratio between its quartiles' true \
    "$(jq 'all(.[]; .ours_median > 0 and .ratio > 0 and
        .quartiles[0] <= .ratio and .ratio <= .quartiles[1])' rows.json)"
same 'with one round the ratio is that of the two medians' true \
    "$(jq 'all(.[] | select(.floor and (.row | test("start|fork|find|run") | not));
        (.ratio * .floor_median / .ours_median - 1 | fabs) < 0.001)' rows.json)"
same 'a row above its target does not hold' true \
    "$(jq 'all(.[] | select(.target); .holds == (.ratio <= .target))' rows.json)"
same 'a row that does not hold makes the exit status 1' \
    "status $(jq 'if any(.[]; .holds == false) then 1 else 0 end' rows.json)" \
    "$(tail -n 1 all.json)"
same 'system calls, dirty pages and the size of the file are within their targets' \
    'true true true' "$(jq -r '[.[] | select(.target and .floor == null).holds] |
        map(tostring) | join(" ")' rows.json)"
same 'without --json the output is a table' \
    '| the file, stripped |  |  |  | 57,344 | holds |
status 0' "$(run footprint | sed -n 's/ [0-9,]* bytes |  |//; /stripped\|status/p')"

done_testing
