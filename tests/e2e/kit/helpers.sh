#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The helpers and recipes of demo/kit/: Go's, pytest's, and the Makefile.
PLAY=$OTELCTX_PLAY
JUDGE=$OTELCTX_JUDGE
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

export OTELCTX_PLAY=$PLAY
go_tests() {
    cd "$ROOT/demo/kit/go" && GOFLAGS=-count=1 go test ./...
}
check 'the helper for go test stages scenarios' go_tests

pytest_tests() {
    cd "$ROOT/demo/kit/python" &&
        PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -q -p no:cacheprovider
}
check 'so does the fixture for pytest' pytest_tests

# The Makefile of the README, with the judge beside it, and a reader.
recipe() {
    mkdir "$TMP/recipe"
    cd "$TMP/recipe"
    awk '/^```$/ {on = 0} on {print} /^```make$/ {on = 1}' \
        "$ROOT/demo/kit/README.md" >Makefile
    cp "$JUDGE" otelctx-judge
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\nexec %s --json "$1"\n' "$READ" >my-reader
    chmod +x my-reader
    make judge || [ $? = 2 ]
    grep -q '<testsuite name="otelctx-judge" tests="2' judge.xml
}
check 'the Makefile in the README judges a reader' recipe
same 'and the job for GitHub Actions makes the same' 'make judge' \
    "$(sed -n 's/^- run: //p' "$ROOT/demo/kit/README.md")"
done_testing
