#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The demonstration does what the README says of it.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

rm -f "$BUILD/shop.html"
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
# A machine that stands still for five seconds has no rows to show.
contains 'and who takes the processor time' 'LONGEST  service > http.route' "$out"
check 'and a page of it' grep -q 'service.name' "$BUILD/shop.html"
contains 'and says where the page is' "See it in a browser: $BUILD/shop.html" "$out"
contains 'and what a mistake looks like' "expected two hexadecimal digits" "$out"
done_testing
