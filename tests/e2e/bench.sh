#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The benchmark runs, tells all that it has to tell, and judges it by its own
# figures. How large those are is not tested here, but for what no noise changes.
#
build=$OTELCTX_BUILD
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
cd "$TMP"

# run OPTION...: its status.
run() {
    local status=0

    "$ROOT/tests/bench/run" --build "$build" --rounds 1 "$@" || status=$?
    echo "status $status"
}
run --json >all.json
grep -v ^status all.json >rows.json
same 'every row that has a target is there, with that target' \
    'attach + detach: 0.85
first publication: 1.1
fork, child and end: 1.05
more private dirty pages: 4
more system calls at start: 12
start of true, disabled: 1.02
start of true, excluded: 1.02
start of true, publishing: 1.05
start of true, publishing: 1.12
start of true, silent: 1.02
swap there and back: 0.85
the file, stripped: 40960
the same, 4 attributes: 3
update: 1.4' "$(jq -r '.[] | select(.target) | "\(.row): \(.target)"' rows.json |
    sort)"
same 'and those of the reader' \
    'a thread stands still, to be read
find a context among 100,000 mappings
find those of 2,000 processes' \
    "$(jq -r '.[].row | select(test("find|stands"))' rows.json | sort)"
same 'each is a ratio of something measured, between its quartiles' true \
    "$(jq 'all(.[]; .ours_median > 0 and .ratio > 0 and
        .quartiles[0] <= .ratio and .ratio <= .quartiles[1])' rows.json)"
same 'with one round that of the two medians' true \
    "$(jq 'all(.[] | select(.floor and (.row | test("start|fork|find") | not));
        (.ratio * .floor_median / .ours_median - 1 | fabs) < 0.001)' rows.json)"
same 'what is above its target does not hold' true \
    "$(jq 'all(.[] | select(.target); .holds == (.ratio <= .target))' rows.json)"
same 'and makes the status 1' \
    "status $(jq 'if any(.[]; .holds == false) then 1 else 0 end' rows.json)" \
    "$(tail -n 1 all.json)"
same 'system calls, dirty pages and the size of the file are within theirs' \
    'true true true' "$(jq -r '[.[] | select(.target and .floor == null).holds] |
        map(tostring) | join(" ")' rows.json)"
same 'without --json it is a table' \
    '| the file, stripped |  |  |  | 40,960 | holds |
status 0' "$(run footprint | sed -n 's/ [0-9,]* bytes |  |//; /stripped\|status/p')"

done_testing
