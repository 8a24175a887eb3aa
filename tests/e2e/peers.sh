# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced, after common.sh, by the tests with readers and writers of other
# projects: fetches them from their registries and builds them.

built=$BUILD/readers
mkdir -p "$built"

# newer_than VERSION COMMAND...: the first version number that it prints is.
newer_than() {
    local wanted=$1 found
    shift

    found=$("$@" 2>/dev/null | grep -oEm 1 '[0-9]+\.[0-9]+') || return 1
    printf '%s\n' "$wanted" "$found" | sort -CV
}

ebpf_profiler() {
    (cd "$ROOT/tests/e2e/world/readers/ebpf_profiler" &&
        go build -buildvcs=false -o "$built/ebpf_profiler" .)
}

# All programs in one build, the same for each test: cargo waits for one that
# another test has begun.
libdatadog() {
    OTELCTX_KIT_FOLDER=$BUILD/demo/kit \
        cargo build --locked --quiet --target-dir "$built/libdatadog" \
        --manifest-path "$ROOT/tests/e2e/world/readers/libdatadog/Cargo.toml"
}
