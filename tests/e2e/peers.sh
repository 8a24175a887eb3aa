# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the test scripts with readers and writers that nobody here wrote,
# after common.sh: those are fetched from their registries, and built here.

built=$BUILD/readers
mkdir -p "$built"

# newer_than VERSION COMMAND...: the first version number that it prints is.
newer_than() {
    local wanted=$1 found
    shift

    found=$("$@" 2>/dev/null | grep -oEm 1 '[0-9]+\.[0-9]+') || return 1
    printf '%s\n' "$wanted" "$found" | sort -CV
}

libdatadog() {
    cargo build --locked --quiet --target-dir "$built/libdatadog" \
        --manifest-path "$ROOT/tests/e2e/readers/libdatadog/Cargo.toml"
}
