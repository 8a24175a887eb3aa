#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The demonstration does what the README says of it.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"

status=0
out=$(OTELCTX_BUILD=$BUILD "$ROOT/demo/try" 2>&1) || status=$?
same 'it runs to its end' 0 "$status"
for program in tail redis-server python3; do
    contains "it shows the context of $program" "($program)" "$out"
done
contains 'it shows that of node as JSON' '"stringValue": "frontend"' "$out"
contains 'and an update' 'service.version  "2"' "$out"
contains 'and what a mistake looks like' "expected two hexadecimal digits" "$out"
done_testing
