#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The demonstration does what the README says of it.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

status=0
out=$(OTELCTX_BUILD=$BUILD "$ROOT/demo/try" 2>&1) || status=$?
same 'it runs to its end' 0 "$status"
for program in tail redis-server python3; do
    contains "it shows the context of $program" "($program)" "$out"
done
contains 'it shows that of node as JSON' '"stringValue": "frontend"' "$out"
contains 'and an update' 'service.version  "2"' "$out"
contains 'and the trace of every thread of a batch job' \
    'xz  R  attached  trace 4bf92f3577b34da6a3ce929d0e0e4736' "$out"
contains 'and what threads of Python work for' 'db.operation.name  "SELECT"' "$out"
contains 'and what a mistake looks like' "expected two hexadecimal digits" "$out"
done_testing
