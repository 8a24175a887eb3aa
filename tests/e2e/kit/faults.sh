#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Each of the faults in faults.txt, seeded into otelctx-read, is found by the
# scenarios that it names.
JUDGE=$OTELCTX_JUDGE
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

here=$ROOT/tests/e2e/kit

result=0
python3 "$here/faults.py" "$ROOT" "$TMP" "$JUDGE" >"$TMP/found" || result=$?
while read -r verdict rest; do
    case $verdict in
    found) tap_ok "$rest" ;;
    unstaged) skip "$rest" 'machine: it cannot stage the scenario' ;;
    *) tap_not_ok "$rest" "$verdict" ;;
    esac
done <"$TMP/found"
same 'every fault was seeded' 0 "$result"
check 'there are at least 70' [ "$(grep -c '^found' "$TMP/found")" -ge 70 ]
done_testing
